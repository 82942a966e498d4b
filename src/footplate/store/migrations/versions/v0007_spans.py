"""The names of some forty jobs in one row, where parts of names are looked for first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_EACH = 40
"""Jobs of a span, and those made in the same moment as the last."""

_FILL = """
INSERT INTO job_spans (collection, begin, until, job_id_folded, display_name_folded)
SELECT collection,
       CASE WHEN number = 0 THEN {first} ELSE begin END,
       lead(begin, 1, {last}) OVER (PARTITION BY collection ORDER BY number),
       job_ids,
       display_names
FROM (SELECT collection, number, min(create_time) AS begin,
             {join}(job_id_folded, '\n') AS job_ids,
             {join}(display_name_folded, '\n') AS display_names
      FROM (SELECT jobs.*, (dense_rank() OVER (PARTITION BY collection ORDER BY create_time) - 1)
                           / {each} AS number
            FROM jobs WHERE collection <> '') AS numbered
      GROUP BY collection, number) AS parts
"""


def upgrade() -> None:
    op.create_table(
        "job_spans",
        sa.Column("collection", _TEXT),
        sa.Column("begin", sa.BigInteger, autoincrement=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("job_id_folded", _TEXT, nullable=False),
        sa.Column("display_name_folded", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("collection", "begin"),
    )
    join = "group_concat" if op.get_bind().dialect.name == "sqlite" else "string_agg"
    bounds = {"first": "-9223372036854775807 - 1", "last": 2**63 - 1}
    op.execute(_FILL.format(join=join, each=_EACH, **bounds))


def downgrade() -> None:
    op.drop_table("job_spans")
