"""The tables of the newest migration."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

REVISION = "1009"
"""The newest migration; a database at this revision needs none."""

REVISION_TABLE = "footplate_revision"
"""A name of our own: the database may be shared with others that use Alembic."""

metadata = MetaData()

Bytewise = Text().with_variant(Text(collation="C"), "postgresql")
"""Text in the order of its code points on both engines, whatever locale PostgreSQL runs in."""

Micros = BigInteger
"""See ``times``."""

_NEWEST = ("collection", "create_time", "uid", "state", "start_time", "end_time")
"""By the first three jobs are listed; by the others a filter passes over jobs without reading
them, which is some ten times as fast."""

_IN_REGION = ("collection", "region", *_NEWEST[1:])
"""For collections whose jobs are in several regions, as those of ml v1."""

_NAMES = ("job_id_folded", "display_name_folded")
"""The same for parts of names. PostgreSQL takes no texts into an index that may be long."""

_HAS_RUN = text("end_time IS NOT NULL AND machines IS NOT NULL")
"""What is in the index of runs: so it is written once for a job, at its end."""

_HAS_AUTHOR = text("author IS NOT NULL")

jobs = Table(
    "jobs",
    metadata,
    Column("uid", Bytewise, primary_key=True),
    Column("name", Bytewise, nullable=False, unique=True),
    Column("collection", Bytewise, nullable=False),
    Column("job_id", Bytewise, nullable=False),
    Column("job_id_folded", Bytewise, nullable=False),
    Column("display_name", Bytewise, nullable=False),
    Column("display_name_folded", Bytewise, nullable=False),
    Column("state", Bytewise, nullable=False),
    Column("create_time", Micros, nullable=False),
    Column("update_time", Micros, nullable=False),
    Column("start_time", Micros),
    Column("end_time", Micros),
    Column("attempt", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("labels", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("replicas", Text, nullable=False),
    Column("ending", Text),
    Column("tuning_job", Bytewise),
    Column("region", Bytewise, nullable=False, server_default=text("''")),
    Column("author", Bytewise),
    Column("project", Bytewise, nullable=False, server_default=text("''")),
    Column("machines", Bytewise),
    Index("jobs_newest", *_NEWEST, *_NAMES).ddl_if(dialect="sqlite"),
    Index("jobs_newest", *_NEWEST).ddl_if(dialect="postgresql"),
    Index("jobs_newest_called", "collection", "display_name", "create_time", "uid"),
    Index("jobs_newest_in_state", "collection", "state", "create_time", "uid"),
    Index("jobs_newest_in_region", *_IN_REGION),
    Index("jobs_by_state", "state", "create_time"),
    Index("jobs_of_tuning", "tuning_job", "create_time"),
    Index(
        "jobs_run",
        *("end_time", "start_time", "project", "machines"),
        sqlite_where=_HAS_RUN,
        postgresql_where=_HAS_RUN,
    ),
    Index(
        "jobs_newest_by_author",
        *("collection", "author", "create_time", "uid"),
        sqlite_where=_HAS_AUTHOR,
        postgresql_where=_HAS_AUTHOR,
    ),
)
"""``..._folded`` is the text without case: each engine has its own idea of lower().

``collection`` is empty for the runs of a ``tuning_job``, which are in no list. ``machines`` is as
``running_times`` writes it, and NULL for jobs that other jobs run for.
"""

job_labels = Table(
    "job_labels",
    metadata,
    Column("job_uid", Bytewise, ForeignKey("jobs.uid", ondelete="CASCADE"), primary_key=True),
    Column("key", Bytewise, primary_key=True),
    Column("value", Bytewise, nullable=False),
    Column("value_folded", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("create_time", Micros, nullable=False),
    Index("job_labels_newest", "key", "value", "collection", "create_time", "job_uid"),
)
"""An index over ``jobs.labels``, which says what the labels are and in what order.

``collection`` and ``create_time`` are the job's: those with a label are listed without the rest.
"""

job_events = Table(
    "job_events",
    metadata,
    Column("job_uid", Bytewise, ForeignKey("jobs.uid", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("time", Micros, nullable=False),
    Column("key", Bytewise),
    Column("body", Text, nullable=False),
    UniqueConstraint("job_uid", "key", name="job_events_once"),
)

quotas = Table(
    "quotas",
    metadata,
    Column("project", Bytewise, primary_key=True),
    Column("region", Bytewise, primary_key=True),
    Column("resource", Bytewise, primary_key=True),
    Column("amount", BigInteger, nullable=False),
)
"""One row for each limit; ``limit`` itself is a word of SQL."""

studies = Table(
    "studies",
    metadata,
    Column("uid", Bytewise, primary_key=True),
    Column("name", Bytewise, unique=True),
    Column("collection", Bytewise),
    Column("display_name", Bytewise, nullable=False),
    Column("display_digest", Bytewise),
    Column("state", Bytewise, nullable=False),
    Column("create_time", Micros, nullable=False),
    Column("version", Integer, nullable=False),
    Column("last_position", BigInteger, nullable=False),
    Column("config", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("request", Text, nullable=False),
    UniqueConstraint("collection", "display_digest", name="studies_display_digest_once"),
    Index("studies_newest", "collection", "create_time", "uid"),
)
"""``name``, ``collection`` and ``display_digest`` are NULL for studies of tuning jobs: so these
are in no list, and may share display names. ``last_position`` is that of the newest report,
also once it is deleted."""

study_earlier = Table(
    "study_earlier",
    metadata,
    Column("study_uid", Bytewise, ForeignKey("studies.uid", ondelete="CASCADE"), primary_key=True),
    Column("body", Text, nullable=False),
)
"""Apart from the study: it may be large, never changes, and each write copies a whole row."""

trials = Table(
    "trials",
    metadata,
    Column("study_uid", Bytewise, ForeignKey("studies.uid", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("reports", Integer, nullable=False),
    Column("body", Text, nullable=False),
)
"""``reports``: how many of it are kept."""

study_models = Table(
    "study_models",
    metadata,
    Column("study_uid", Bytewise, ForeignKey("studies.uid", ondelete="CASCADE"), primary_key=True),
    Column("finished", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
)

trial_reports = Table(
    "trial_reports",
    metadata,
    Column("study_uid", Bytewise, primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
    Column("key_digest", Bytewise, nullable=False),
    Column("body", Text, nullable=False),
    ForeignKeyConstraint(
        ["study_uid", "number"],
        ["trials.study_uid", "trials.number"],
        name="trial_reports_of_trial",
        ondelete="CASCADE",
    ),
    UniqueConstraint("study_uid", "number", "key_digest", name="trial_reports_once"),
    Index("trial_reports_by_trial", "study_uid", "number", "position"),
)

models = Table(
    "models",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("collection", Bytewise, nullable=False),
    Column("create_time", Micros, nullable=False),
    Column("version", Integer, nullable=False),
    Column("exporting", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Index("models_newest", "collection", "create_time", "name"),
    Index("models_exporting", "exporting"),
)
"""The model registry. ``exporting`` is 1 while an export of the model hasn't ended, else 0."""

persistent_resources = Table(
    "persistent_resources",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("collection", Bytewise, nullable=False),
    Column("create_time", Micros, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Index("persistent_resources_newest", "collection", "create_time", "name"),
)

log_uploads = Table(
    "log_uploads",
    metadata,
    Column("uid", Bytewise, primary_key=True),
    Column("body", Text, nullable=False),
)
"""The jobs whose event files are still read, for a TensorBoard."""

tracking = Table(
    "tracking",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("uid", Bytewise, nullable=False, unique=True),
    Column("within", Bytewise, ForeignKey("tracking.name", ondelete="CASCADE")),
    Column("collection", Bytewise, nullable=False),
    Column("unique_digest", Bytewise),
    Column("create_time", Micros, nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("collection", "unique_digest", name="tracking_unique_once"),
    Index("tracking_newest", "collection", "create_time", "name"),
    Index("tracking_within", "within"),
)
"""Resources of metadata stores and TensorBoards. ``within`` is the resource that one is in;
``unique_digest`` is NULL for one that may be the same as others in its collection."""

tracking_links = Table(
    "tracking_links",
    metadata,
    Column("source", Bytewise, ForeignKey("tracking.name", ondelete="CASCADE"), primary_key=True),
    Column("target", Bytewise, ForeignKey("tracking.name", ondelete="CASCADE"), primary_key=True),
    Column("kind", Bytewise, nullable=False),
    Column("time", Micros, nullable=False),
    Column("labels", Text, nullable=False),
    Index("tracking_links_to", "target"),
)

tracking_points = Table(
    "tracking_points",
    metadata,
    Column("series", Bytewise, ForeignKey("tracking.uid", ondelete="CASCADE"), primary_key=True),
    Column("step", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Micros, nullable=False),
    Column("value", Double),
    Column("body", Text),
    sqlite_with_rowid=False,
)
"""Points of time series. A tensor is in ``body``; without both the value is NaN, which SQLite
doesn't have. It keeps the rows in the key's index: else each is there twice."""

leases = Table(
    "leases",
    metadata,
    Column("name", Bytewise, primary_key=True),
    Column("holder", Bytewise, nullable=False),
    Column("url", Bytewise, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("expires", Micros, nullable=False),
)
"""``holder`` is empty where a lease was given back. Times here are of the database's clock."""

servers = Table(
    "servers",
    metadata,
    Column("id", Bytewise, primary_key=True),
    Column("seen", Micros, nullable=False),
    Column("body", Text, nullable=False),
)

home = Table(
    "home",
    metadata,
    Column("database_id", Bytewise, primary_key=True),
    Column("data_dir_id", Bytewise, nullable=False),
    Column("place", Text, nullable=False),
)
"""One row: the database's own identity, and the data directory that it belongs to."""

revisions = Table(
    REVISION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{REVISION_TABLE}_pkc"),
)
"""Alembic's own table, in a collection of its own since no migration makes it."""
