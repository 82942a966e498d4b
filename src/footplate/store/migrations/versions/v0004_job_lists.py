"""Indexes that lists are filtered in, without reading the jobs that they pass over."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"

_NEWEST = ["collection", "create_time", "uid"]
_FILTERED = ["state", "start_time", "end_time"]
_TEXTS = ["job_id_folded", "display_name_folded"]


def upgrade() -> None:
    op.drop_index("jobs_newest", "jobs")
    texts = _TEXTS if op.get_bind().dialect.name == "sqlite" else []
    op.create_index("jobs_newest", "jobs", [*_NEWEST, *_FILTERED, *texts])
    op.create_index("jobs_newest_in_state", "jobs", ["collection", "state", "create_time", "uid"])


def downgrade() -> None:
    op.drop_index("jobs_newest_in_state", "jobs")
    op.drop_index("jobs_newest", "jobs")
    op.create_index("jobs_newest", "jobs", _NEWEST)
