"""The servers of a database, which of them leads, and the data directory that it belongs to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("name", _TEXT, primary_key=True),
        sa.Column("holder", _TEXT, nullable=False),
        sa.Column("url", _TEXT, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "servers",
        sa.Column("id", _TEXT, primary_key=True),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "home",
        sa.Column("database_id", _TEXT, primary_key=True),
        sa.Column("data_dir_id", _TEXT, nullable=False),
        sa.Column("place", sa.Text, nullable=False),
    )


def downgrade() -> None:
    for table in ("home", "servers", "leases"):
        op.drop_table(table)
