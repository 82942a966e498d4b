"""Drops the spans of names and the index of ends: an index of the jobs is quick enough."""

from __future__ import annotations

from alembic import op

revision = "1009"
down_revision = "1008"


def upgrade() -> None:
    op.drop_table("job_spans")
    op.drop_index("jobs_ended")
