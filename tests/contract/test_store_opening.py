"""How both engines come to have their tables."""

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, Index, MetaData, insert, inspect, select, text, update
from sqlalchemy.engine.interfaces import ReflectedIndex

from footplate.domain.errors import FailedPrecondition, InvalidArgument, Unavailable
from footplate.domain.filters import Comparator, Comparison, Field
from footplate.domain.job_states import State
from footplate.domain.jobs import MachineSpec
from footplate.domain.machine_hours import machines_of
from footplate.store import open_store
from footplate.store.database_setup import alone, stored_revision
from footplate.store.migrations.runner import configuration, migrate
from footplate.store.row_codec import job_values
from footplate.store.sql_engines import make_engine, parse_url
from footplate.store.tables import REVISION, REVISION_TABLE, jobs, metadata, revisions
from tests.support.jobs import CREATED, make_job, make_search, make_spec
from tests.support.postgresql import Postgresql

JOBS = "projects/demo/jobs"

OPEN_AND_CREATE = """
import sys
from footplate.store import open_store
from footplate.domain.timestamps import to_micros
from tests.support.jobs import CREATED, make_job
print("ready", flush=True)
sys.stdin.read(1)
store = open_store(sys.argv[1])
store.create(make_job(f"projects/demo/jobs/job_{sys.argv[2]}"), ())
store.close()
"""

OPEN_AND_LIST_ALEMBIC = """
import sys
from footplate.store import open_store
open_store(sys.argv[1]).close()
print(*(name for name in sys.modules if name.partition(".")[0] in ("alembic", "mako")))
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database with nothing in it."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/footplate.db"
    server = request.getfixturevalue("postgresql")
    assert isinstance(server, Postgresql)
    return server.create_database()


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = make_engine(parse_url(url), 5.0)
    yield engine
    engine.dispose()


def test_the_revision_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(configuration()).get_current_head() == REVISION


def test_a_new_database_is_as_the_migrations_make_it(engine: Engine, url: str) -> None:
    with alone(engine) as connection:
        migrate(connection)
    with engine.connect() as connection:
        migrated = _describe(connection)
        context = MigrationContext.configure(
            connection, opts={"version_table": REVISION_TABLE, "compare_server_default": True}
        )
        assert compare_metadata(context, _meant_for(engine)) == []
    with alone(engine) as connection:
        for table in (*reversed(list(metadata.tables)), REVISION_TABLE):
            connection.execute(text(f"DROP TABLE {table}"))
    open_store(url).close()
    with engine.connect() as connection:
        assert _describe(connection) == migrated
        assert stored_revision(connection) == REVISION


def _meant_for(engine: Engine) -> MetaData:
    """The tables without the indexes of other engines, which Alembic doesn't tell apart."""
    copy = MetaData()
    for table in metadata.sorted_tables:
        copied = table.to_metadata(copy)
        for index in table.indexes:
            condition = index._ddl_if
            if condition is not None and condition.dialect != engine.dialect.name:
                copied.indexes.difference_update(
                    {other for other in copied.indexes if _columns(other) == _columns(index)}
                )
    return copy


def _columns(index: Index) -> tuple[str, list[str]]:
    return str(index.name), index.columns.keys()


def test_what_the_migrations_made_is_used(engine: Engine, url: str) -> None:
    with alone(engine) as connection:
        migrate(connection)
    store = open_store(url)
    store.create(make_job(), ())
    assert [job.state for job in store.active()] == [State.QUEUED]
    store.close()


@pytest.mark.parametrize("revision", ["0001", "0008", "1002"])
def test_a_database_of_a_development_version_is_left_alone(
    engine: Engine, url: str, revision: str
) -> None:
    open_store(url).close()
    with alone(engine) as connection:
        connection.execute(update(revisions).values(version_num=revision))
    with pytest.raises(FailedPrecondition, match=r"development version.*Export.*new data dir"):
        open_store(url)
    with engine.connect() as connection:
        assert stored_revision(connection) == revision


def test_a_failed_migration_changes_nothing(engine: Engine) -> None:
    with pytest.raises(ZeroDivisionError):
        _migrate_and_fail(engine)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == []


def test_jobs_of_an_older_database_get_their_regions(engine: Engine, url: str) -> None:
    with alone(engine) as connection:
        migrate(connection, "1006")
        columns = {column["name"] for column in inspect(connection).get_columns("jobs")}
        for name in ("europe-west4", "us-central1"):
            job = make_job(f"{JOBS}/{name}", spec=make_spec(region=name))
            values = {k: v for k, v in job_values(job).items() if k in columns}
            connection.execute(insert(jobs), values)
        damaged = {**values, "uid": "damaged", "name": f"{JOBS}/damaged", "spec": "{"}
        connection.execute(insert(jobs), damaged)
    store = open_store(url)
    where = Comparison(Field.REGION, Comparator.EQUAL, "europe-west4")
    found = store.list(JOBS, where=where, limit=9, after=None).jobs
    assert [job.name.job_id for job in found] == ["europe-west4"]
    store.close()


def test_jobs_of_an_older_database_get_their_hours(engine: Engine, url: str) -> None:
    """What the migration makes of stored documents is what the store would write itself."""
    gpus = MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)
    specs = {
        "plain": make_spec(workers=2),
        "gpus": make_spec(machine=gpus),
        "tunes": replace(make_spec(), search=make_search()),
    }
    made = [
        replace(
            make_job(f"{JOBS}/{name}", spec=spec, state=State.SUCCEEDED),
            start_time=CREATED,
            end_time=CREATED + timedelta(hours=1),
        )
        for name, spec in specs.items()
    ]
    with alone(engine) as connection:
        migrate(connection, "1007")
        columns = {column["name"] for column in inspect(connection).get_columns("jobs")}
        for job in made:
            values = {k: v for k, v in job_values(job).items() if k in columns}
            connection.execute(insert(jobs), values)
        connection.execute(insert(jobs), {**values, "uid": "x", "name": "x", "spec": "{"})
    store = open_store(url)
    found = store.running_times(CREATED, CREATED + timedelta(hours=9))
    assert {(each.project, each.machines) for each in found} == {
        ("demo", machines_of(specs["plain"])),
        ("demo", machines_of(specs["gpus"])),
    }
    store.close()
    with engine.connect() as connection:
        stored = connection.execute(select(jobs.c.name, jobs.c.machines)).all()
    expected = {str(job.name): job_values(job)["machines"] for job in made}
    assert dict(stored) == {**expected, "x": None}


def _migrate_and_fail(engine: Engine) -> None:
    with alone(engine) as connection:
        migrate(connection)
        raise ZeroDivisionError


def test_an_opened_database_is_opened_again(url: str) -> None:
    first = open_store(url)
    first.create(make_job(), ())
    second = open_store(url)
    assert second.get(make_job().name) == make_job()
    second.close()
    first.close()


def test_alembic_costs_nothing_where_nothing_is_to_do(url: str) -> None:
    for _ in range(2):
        words = (sys.executable, "-c", OPEN_AND_LIST_ALEMBIC, url)
        run = subprocess.run(words, check=True, capture_output=True, text=True)
        assert run.stdout.split() == []


def test_processes_may_open_a_database_at_once(url: str) -> None:
    """One of them makes it."""
    openers = [
        subprocess.Popen(
            (sys.executable, "-W", "error", "-c", OPEN_AND_CREATE, url, str(number)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("\n")
        opener.stdin.flush()
    assert [opener.communicate()[1] for opener in openers] == [""] * 4
    store = open_store(url)
    assert len(store.active()) == 4
    store.close()


def test_threads_may_open_new_databases_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(5):
            urls = [f"sqlite:///{tmp_path}/{number}.db"] * 8
            for store in pool.map(open_store, urls):
                store.close()


def test_sqlite_is_set_up_by_one_opener_alone(tmp_path: Path) -> None:
    """Its change to WAL fails now and then beside another one: too rarely for a test."""
    engine = make_engine(parse_url(f"sqlite:///{tmp_path}/db"), 5.0)
    folder = os.open(tmp_path, os.O_RDONLY)
    with alone(engine), pytest.raises(BlockingIOError):
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(folder)
    engine.dispose()


def test_a_database_of_a_newer_version_is_left_alone(engine: Engine, url: str) -> None:
    open_store(url).close()
    with alone(engine) as connection:
        connection.execute(update(revisions).values(version_num="9999"))
        before = _describe(connection)
    with pytest.raises(FailedPrecondition, match=f"newer version of Footplate.*{REVISION}"):
        open_store(url)
    with engine.connect() as connection:
        assert _describe(connection) == before
        assert stored_revision(connection) == "9999"


def test_a_database_of_somebody_else_is_left_alone(engine: Engine, url: str) -> None:
    with alone(engine) as connection:
        connection.execute(text("CREATE TABLE jobs (theirs TEXT)"))
    with pytest.raises(FailedPrecondition, match="a database of its own"):
        open_store(url)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["jobs"]


def test_sqlite_keeps_foreign_keys_off_only_while_it_migrates(tmp_path: Path) -> None:
    engine = make_engine(parse_url(f"sqlite:///{tmp_path}/db"), 5.0)
    settings = "SELECT foreign_keys, synchronous, journal_mode FROM pragma_foreign_keys, "
    settings += "pragma_synchronous, pragma_journal_mode"
    with alone(engine) as connection:
        assert tuple(connection.execute(text(settings)).one()) == (0, 2, "wal")
    with engine.connect() as connection:
        assert tuple(connection.execute(text(settings)).one()) == (1, 2, "wal")
    engine.dispose()


def test_a_database_file_is_its_owners_alone(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/db")
    store.create(make_job(), ())
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "db": 0o600,
        "db-shm": 0o600,
        "db-wal": 0o600,
    }
    store.close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "footplate.db",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///",
        "mysql://h/d",
        "postgresql+asyncpg://h/d",
    ],
)
def test_a_url_of_no_usable_database_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match=r"database: .*allowed: sqlite:////PATH"):
        open_store(url)


@pytest.mark.parametrize("folder", ["a b", "100%", "%20", "what?", "x?mode=ro", "#1", "a@b:c", "ä"])
def test_a_folder_may_have_any_name(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    open_store(f"sqlite:///{tmp_path / folder}/footplate.db").close()
    assert [str(found) for found in tmp_path.rglob("*.db")] == [f"{tmp_path}/{folder}/footplate.db"]
    with pytest.raises(Unavailable, match=re.escape(f"{folder}/no/footplate.db")):
        open_store(f"sqlite:///{tmp_path / folder}/no/footplate.db")


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgresql_may_be_spelled_as_everywhere(postgresql: Postgresql, scheme: str) -> None:
    _, separator, rest = postgresql.create_database().partition("://")
    open_store(scheme + separator + rest).close()


def test_a_server_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    url = f"postgresql://user:secret@/db?host={tmp_path}"
    with pytest.raises(Unavailable, match=r"\*\*\*.*check that PostgreSQL runs") as caught:
        open_store(url)
    assert "secret" not in caught.value.message


def _describe(connection: Connection) -> dict[str, Any]:
    """All that the engine knows of the tables; Any, as SQLAlchemy's inspector has it."""
    inspector = inspect(connection)
    return {
        table: {
            "columns": [
                {**column, "type": str(column["type"])} for column in inspector.get_columns(table)
            ],
            "primary key": inspector.get_pk_constraint(table),
            "foreign keys": inspector.get_foreign_keys(table),
            "unique": sorted(inspector.get_unique_constraints(table), key=str),
            "indexes": sorted(map(_describe_index, inspector.get_indexes(table)), key=str),
        }
        for table in inspector.get_table_names()
    }


def _describe_index(index: ReflectedIndex) -> dict[str, Any]:
    """With what it is made for as text."""
    options = {name: str(value) for name, value in index.get("dialect_options", {}).items()}
    return {**index, "dialect_options": options}
