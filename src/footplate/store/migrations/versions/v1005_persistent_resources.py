"""Persistent resources."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1005"
down_revision = "1004"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "persistent_resources",
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("collection", _TEXT, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index(
        "persistent_resources_newest", "persistent_resources", ["collection", "create_time", "name"]
    )
