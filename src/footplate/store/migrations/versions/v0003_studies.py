"""Studies, their trials, models and reports, and which jobs run trials."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("jobs", sa.Column("tuning_job", _TEXT))
    op.create_index("jobs_of_tuning", "jobs", ["tuning_job", "create_time"])
    _create_studies()
    _create_earlier()
    _create_trials()
    _create_models()
    _create_reports()


def downgrade() -> None:
    for table in ("trial_reports", "study_models", "trials", "study_earlier", "studies"):
        op.drop_table(table)
    op.drop_index("jobs_of_tuning", "jobs")
    op.drop_column("jobs", "tuning_job")


def _create_studies() -> None:
    op.create_table(
        "studies",
        sa.Column("uid", _TEXT, primary_key=True),
        sa.Column("name", _TEXT, unique=True),
        sa.Column("collection", _TEXT),
        sa.Column("display_name", _TEXT, nullable=False),
        sa.Column("display_digest", _TEXT),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("last_position", sa.BigInteger, nullable=False),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.UniqueConstraint("collection", "display_digest", name="studies_display_digest_once"),
    )
    op.create_index("studies_newest", "studies", ["collection", "create_time", "uid"])


def _create_earlier() -> None:
    op.create_table(
        "study_earlier",
        _of_study(),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study_uid"),
    )


def _create_trials() -> None:
    op.create_table(
        "trials",
        _of_study(),
        sa.Column("number", sa.Integer),
        sa.Column("reports", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study_uid", "number"),
    )


def _create_models() -> None:
    op.create_table(
        "study_models",
        _of_study(),
        sa.Column("finished", sa.Integer),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study_uid", "finished"),
    )


def _create_reports() -> None:
    op.create_table(
        "trial_reports",
        sa.Column("study_uid", _TEXT),
        sa.Column("position", sa.BigInteger),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("key_digest", _TEXT, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study_uid", "position"),
        sa.ForeignKeyConstraint(
            ["study_uid", "number"],
            ["trials.study_uid", "trials.number"],
            name="trial_reports_of_trial",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("study_uid", "number", "key_digest", name="trial_reports_once"),
    )
    op.create_index("trial_reports_by_trial", "trial_reports", ["study_uid", "number", "position"])


def _of_study() -> sa.Column[str]:
    return sa.Column("study_uid", _TEXT, sa.ForeignKey("studies.uid", ondelete="CASCADE"))
