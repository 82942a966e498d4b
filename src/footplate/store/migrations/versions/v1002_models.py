"""The model registry: a row for each model."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1002"
down_revision = "1001"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "models",
        sa.Column("name", _TEXT),
        sa.Column("collection", _TEXT, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("exporting", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("models_newest", "models", ["collection", "create_time", "name"])
    op.create_index("models_exporting", "models", ["exporting"])


def downgrade() -> None:
    op.drop_table("models")
