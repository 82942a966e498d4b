"""Metadata stores and TensorBoards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1004"
down_revision = "1003"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "tracking",
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("uid", _TEXT, nullable=False),
        sa.Column("within", _TEXT),
        sa.Column("collection", _TEXT, nullable=False),
        sa.Column("unique_digest", _TEXT),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["within"], ["tracking.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("name"),
        sa.UniqueConstraint("collection", "unique_digest", name="tracking_unique_once"),
        sa.UniqueConstraint("uid"),
    )
    op.create_index("tracking_newest", "tracking", ["collection", "create_time", "name"])
    op.create_index("tracking_within", "tracking", ["within"])
    op.create_table(
        "tracking_links",
        sa.Column("source", _TEXT, nullable=False),
        sa.Column("target", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["source"], ["tracking.name"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target"], ["tracking.name"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("source", "target"),
    )
    op.create_index("tracking_links_to", "tracking_links", ["target"])
    op.create_table(
        "tracking_points",
        sa.Column("series", _TEXT, nullable=False),
        sa.Column("step", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("value", sa.Double),
        sa.Column("body", sa.Text),
        sa.ForeignKeyConstraint(["series"], ["tracking.uid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("series", "step"),
        sqlite_with_rowid=False,
    )
