"""An index of the times at which jobs ended, so that no list is read for one that no job has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_ENDED = sa.text("end_time IS NOT NULL")


def upgrade() -> None:
    op.create_index(
        "jobs_ended",
        "jobs",
        ["collection", "end_time"],
        sqlite_where=_ENDED,
        postgresql_where=_ENDED,
    )


def downgrade() -> None:
    op.drop_index("jobs_ended", "jobs")
