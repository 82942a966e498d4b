"""Jobs, their labels and their events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    _create_jobs()
    _create_labels()
    _create_events()


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("uid", _TEXT, primary_key=True),
        sa.Column("name", _TEXT, nullable=False, unique=True),
        sa.Column("collection", _TEXT, nullable=False),
        sa.Column("job_id", _TEXT, nullable=False),
        sa.Column("job_id_folded", _TEXT, nullable=False),
        sa.Column("display_name", _TEXT, nullable=False),
        sa.Column("display_name_folded", _TEXT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("update_time", sa.BigInteger, nullable=False),
        sa.Column("start_time", sa.BigInteger),
        sa.Column("end_time", sa.BigInteger),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("replicas", sa.Text, nullable=False),
        sa.Column("ending", sa.Text),
    )
    op.create_index("jobs_newest", "jobs", ["collection", "create_time", "uid"])
    op.create_index("jobs_by_state", "jobs", ["state", "create_time"])


def _create_labels() -> None:
    op.create_table(
        "job_labels",
        sa.Column("job_uid", _TEXT, sa.ForeignKey("jobs.uid", ondelete="CASCADE")),
        sa.Column("key", _TEXT),
        sa.Column("value", _TEXT, nullable=False),
        sa.Column("value_folded", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("job_uid", "key"),
    )
    op.create_index("job_labels_by_value", "job_labels", ["key", "value", "job_uid"])


def _create_events() -> None:
    op.create_table(
        "job_events",
        sa.Column("job_uid", _TEXT, sa.ForeignKey("jobs.uid", ondelete="CASCADE")),
        sa.Column("number", sa.Integer),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("key", _TEXT),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("job_uid", "number"),
        sa.UniqueConstraint("job_uid", "key", name="job_events_once"),
    )
