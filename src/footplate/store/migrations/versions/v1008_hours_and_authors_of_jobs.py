"""The authors of jobs, and their projects and machines, of which hours are summed."""

from __future__ import annotations

import json
from collections import Counter

import sqlalchemy as sa
from alembic import op

revision = "1008"
down_revision = "1007"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_BATCH = 1_000
_HAS_RUN = sa.text("end_time IS NOT NULL AND machines IS NOT NULL")
_HAS_AUTHOR = sa.text("author IS NOT NULL")
_JOBS = sa.table("jobs", *(sa.column(name, sa.Text) for name in ("uid", "name", "spec")))


def upgrade() -> None:
    op.add_column("jobs", sa.Column("author", _TEXT))
    op.add_column("jobs", sa.Column("project", _TEXT, nullable=False, server_default=sa.text("''")))
    op.add_column("jobs", sa.Column("machines", _TEXT))
    _fill(op.get_bind())
    op.create_index(
        "jobs_run",
        "jobs",
        ["end_time", "start_time", "project", "machines"],
        sqlite_where=_HAS_RUN,
        postgresql_where=_HAS_RUN,
    )
    op.create_index(
        "jobs_newest_by_author",
        "jobs",
        ["collection", "author", "create_time", "uid"],
        sqlite_where=_HAS_AUTHOR,
        postgresql_where=_HAS_AUTHOR,
    )


def _fill(connection: sa.Connection) -> None:
    """Fills columns in Python: PostgreSQL's JSON functions reject some documents."""
    following = sa.select(_JOBS).order_by(_JOBS.c.uid).limit(_BATCH)
    entry = sa.text("UPDATE jobs SET project = :project, machines = :machines WHERE uid = :of")
    last = ""
    while rows := connection.execute(following.where(_JOBS.c.uid > last)).all():
        found = [
            {"of": row.uid, "project": _project(row.name), "machines": _machines(row.spec)}
            for row in rows
        ]
        connection.execute(entry, found)
        last = rows[-1].uid


def _project(name: str) -> str:
    return name.split("/")[1] if "/" in name else ""


def _machines(spec: str) -> str | None:
    """Returns machines as the store writes them; None: no replicas, or a damaged record."""
    try:
        document = json.loads(spec)
        if document.get("search") or document.get("pipeline"):
            return None
        counts: Counter[tuple[str, str | None, int]] = Counter()
        for pool in document["pools"]:
            kind = pool["machine"]
            accelerators = kind.get("accelerator_type"), kind.get("accelerator_count", 0)
            counts[kind["machine_type"], *accelerators] += pool["replica_count"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    rows = [[*machine, count] for machine, count in sorted((+counts).items(), key=_place)]
    return json.dumps(rows, separators=(",", ":")) if rows else None


def _place(entry: tuple[tuple[str, str | None, int], int]) -> tuple[str, str, int]:
    (kind, accelerator, count), _ = entry
    return kind, accelerator or "", count
