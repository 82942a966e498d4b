"""The tables of the first release. A new database has them already: see ``opening``."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1003"
down_revision = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_NEWEST = ("collection", "create_time", "uid", "state", "start_time", "end_time")
_NAMES = ("job_id_folded", "display_name_folded")


def upgrade() -> None:
    _create_jobs()
    _create_what_jobs_have()
    _create_studies()
    _create_trials()
    _create_models()
    _create_servers()


def _create_jobs() -> None:
    names = _NAMES if op.get_bind().dialect.name == "sqlite" else ()
    ended = sa.text("end_time IS NOT NULL")
    op.create_table(
        "jobs",
        sa.Column("uid", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
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
        sa.Column("tuning_job", _TEXT),
        sa.PrimaryKeyConstraint("uid"),
        sa.UniqueConstraint("name"),
    )
    op.create_index("jobs_by_state", "jobs", ["state", "create_time"])
    op.create_index(
        "jobs_ended", "jobs", ["collection", "end_time"], sqlite_where=ended, postgresql_where=ended
    )
    op.create_index("jobs_newest", "jobs", [*_NEWEST, *names])
    op.create_index(
        "jobs_newest_called", "jobs", ["collection", "display_name", "create_time", "uid"]
    )
    op.create_index("jobs_newest_in_state", "jobs", ["collection", "state", "create_time", "uid"])
    op.create_index("jobs_of_tuning", "jobs", ["tuning_job", "create_time"])


def _create_what_jobs_have() -> None:
    op.create_table(
        "job_spans",
        sa.Column("collection", _TEXT, nullable=False),
        sa.Column("begin", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("job_id_folded", _TEXT, nullable=False),
        sa.Column("display_name_folded", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("collection", "begin"),
    )
    op.create_table(
        "job_events",
        sa.Column("job_uid", _TEXT, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("key", _TEXT),
        sa.Column("body", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["job_uid"], ["jobs.uid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_uid", "number"),
        sa.UniqueConstraint("job_uid", "key", name="job_events_once"),
    )
    op.create_table(
        "job_labels",
        sa.Column("job_uid", _TEXT, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("value", _TEXT, nullable=False),
        sa.Column("value_folded", _TEXT, nullable=False),
        sa.Column("collection", _TEXT, nullable=False),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["job_uid"], ["jobs.uid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_uid", "key"),
    )
    op.create_index(
        "job_labels_newest", "job_labels", ["key", "value", "collection", "create_time", "job_uid"]
    )


def _create_studies() -> None:
    op.create_table(
        "studies",
        sa.Column("uid", _TEXT, nullable=False),
        sa.Column("name", _TEXT),
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
        sa.PrimaryKeyConstraint("uid"),
        sa.UniqueConstraint("collection", "display_digest", name="studies_display_digest_once"),
        sa.UniqueConstraint("name"),
    )
    op.create_index("studies_newest", "studies", ["collection", "create_time", "uid"])
    op.create_table(
        "study_earlier",
        sa.Column("study_uid", _TEXT, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["study_uid"], ["studies.uid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study_uid"),
    )
    op.create_table(
        "study_models",
        sa.Column("study_uid", _TEXT, nullable=False),
        sa.Column("finished", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["study_uid"], ["studies.uid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study_uid", "finished"),
    )


def _create_trials() -> None:
    op.create_table(
        "trials",
        sa.Column("study_uid", _TEXT, nullable=False),
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("reports", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["study_uid"], ["studies.uid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study_uid", "number"),
    )
    op.create_table(
        "trial_reports",
        sa.Column("study_uid", _TEXT, nullable=False),
        sa.Column("position", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("key_digest", _TEXT, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["study_uid", "number"],
            ["trials.study_uid", "trials.number"],
            name="trial_reports_of_trial",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("study_uid", "position"),
        sa.UniqueConstraint("study_uid", "number", "key_digest", name="trial_reports_once"),
    )
    op.create_index("trial_reports_by_trial", "trial_reports", ["study_uid", "number", "position"])


def _create_models() -> None:
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


def _create_servers() -> None:
    op.create_table(
        "home",
        sa.Column("database_id", _TEXT, nullable=False),
        sa.Column("data_dir_id", _TEXT, nullable=False),
        sa.Column("place", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("database_id"),
    )
    op.create_table(
        "leases",
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("holder", _TEXT, nullable=False),
        sa.Column("url", _TEXT, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "quotas",
        sa.Column("project", _TEXT, nullable=False),
        sa.Column("region", _TEXT, nullable=False),
        sa.Column("resource", _TEXT, nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project", "region", "resource"),
    )
    op.create_table(
        "servers",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
