"""The position up to which the event files of jobs were read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1006"
down_revision = "1005"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "log_uploads",
        sa.Column("uid", _TEXT, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("uid"),
    )
