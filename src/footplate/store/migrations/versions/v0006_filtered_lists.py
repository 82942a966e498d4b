"""Lists of the jobs that bear a label or a name, newest first, without looking at the others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_OLD = ("job_uid", "key", "value", "value_folded")
_NEW = (*_OLD, "collection", "create_time")


def upgrade() -> None:
    op.create_index(
        "jobs_newest_called", "jobs", ["collection", "display_name", "create_time", "uid"]
    )
    op.execute(
        "CREATE TABLE labels_before AS SELECT job_labels.*, jobs.collection, jobs.create_time"
        " FROM job_labels JOIN jobs ON jobs.uid = job_labels.job_uid"
    )
    op.drop_table("job_labels")
    _create_labels(
        sa.Column("collection", _TEXT, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
    )
    _fill_labels(_NEW)
    order = ["key", "value", "collection", "create_time", "job_uid"]
    op.create_index("job_labels_newest", "job_labels", order)


def downgrade() -> None:
    op.execute("CREATE TABLE labels_before AS SELECT * FROM job_labels")
    op.drop_table("job_labels")
    _create_labels()
    _fill_labels(_OLD)
    op.create_index("job_labels_by_value", "job_labels", ["key", "value", "job_uid"])
    op.drop_index("jobs_newest_called", "jobs")


def _create_labels(*added: sa.Column[str] | sa.Column[int]) -> None:
    """A new table, because SQLite adds no column that must have a value."""
    op.create_table(
        "job_labels",
        sa.Column("job_uid", _TEXT, sa.ForeignKey("jobs.uid", ondelete="CASCADE")),
        sa.Column("key", _TEXT),
        sa.Column("value", _TEXT, nullable=False),
        sa.Column("value_folded", _TEXT, nullable=False),
        *added,
        sa.PrimaryKeyConstraint("job_uid", "key"),
    )


def _fill_labels(columns: tuple[str, ...]) -> None:
    names = ", ".join(columns)
    op.execute(f"INSERT INTO job_labels ({names}) SELECT {names} FROM labels_before")  # noqa: S608
    op.drop_table("labels_before")
