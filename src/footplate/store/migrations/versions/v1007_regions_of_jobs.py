"""The regions of jobs, by which lists are filtered."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "1007"
down_revision = "1006"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_BATCH = 1_000
_JOBS = sa.table(
    "jobs", sa.column("uid", sa.Text), sa.column("spec", sa.Text), sa.column("region", sa.Text)
)


def upgrade() -> None:
    op.add_column("jobs", sa.Column("region", _TEXT, nullable=False, server_default=sa.text("''")))
    _fill(op.get_bind())
    columns = ["collection", "region", "create_time", "uid", "state", "start_time", "end_time"]
    op.create_index("jobs_newest_in_region", "jobs", columns)


def _fill(connection: sa.Connection) -> None:
    """Fills the column in Python: PostgreSQL's JSON functions reject some documents."""
    following = sa.select(_JOBS.c.uid, _JOBS.c.spec).order_by(_JOBS.c.uid).limit(_BATCH)
    entry = sa.update(_JOBS).where(_JOBS.c.uid == sa.bindparam("of"))
    entry = entry.values(region=sa.bindparam("place"))
    last = ""
    while rows := connection.execute(following.where(_JOBS.c.uid > last)).all():
        places = [{"of": row.uid, "place": _region(row.spec)} for row in rows]
        connection.execute(entry, places)
        last = rows[-1].uid


def _region(spec: str) -> str:
    """Returns the region of a spec; empty: the record is damaged, and can't be read anyhow."""
    try:
        return str(json.loads(spec)["region"])
    except (ValueError, KeyError, TypeError):
        return ""
