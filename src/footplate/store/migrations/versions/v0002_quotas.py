"""Quotas, a row for each limit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "quotas",
        sa.Column("project", _TEXT),
        sa.Column("region", _TEXT),
        sa.Column("resource", _TEXT),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project", "region", "resource"),
    )


def downgrade() -> None:
    op.drop_table("quotas")
