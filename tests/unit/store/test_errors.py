import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event, make_url, text

from footplate.domain.errors import DataLoss, Unavailable
from footplate.domain.names import StudyUid
from footplate.ports.studies import StudyStore
from footplate.store import SqlStore, open_store
from footplate.store.errors import translated, unavailable
from footplate.store.sql_engines import make_engine
from tests.support.jobs import CREATED, make_job
from tests.support.study_records import create, make_report, make_study, make_trial


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "footplate.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqlStore]:
    store = open_store(f"sqlite:///{path}", lock_timeout_s=0.05)
    store.create(make_job(), ())
    yield store
    store.close()


def test_a_lock_that_stays_makes_writes_unavailable_but_not_reads(
    store: SqlStore, path: Path
) -> None:
    job = store.get(make_job().name)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match=r"locked.*another program has been writing"):
            store.update(replace(job, version=2), ())
        assert store.get(job.name) == job
        other.execute("COMMIT")
    store.update(replace(job, version=2), ())


def test_a_lock_that_stays_makes_writes_to_studies_unavailable_too(
    store: SqlStore, path: Path
) -> None:
    study = create(store.studies, make_study(), make_trial())
    writes: list[Callable[[], object]] = [
        lambda: store.studies.create(make_study("2")),
        lambda: store.studies.write(replace(study, version=3)),
        lambda: store.studies.report(study.uid, 1, [make_report("k")]),
        lambda: store.studies.delete(study.uid),
    ]
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for write in writes:
            with pytest.raises(Unavailable, match=r"locked.*another program has been writing"):
                write()
        assert store.studies.load(study.uid).study == study
        other.execute("COMMIT")
    assert store.studies.report(study.uid, 1, [make_report("k")]) == 1


def test_a_full_disk_loses_no_report_that_was_kept(path: Path) -> None:
    open_store(f"sqlite:///{path}").close()
    engine = make_engine(make_url(f"sqlite:///{path}"), 1.0)

    @event.listens_for(engine, "connect")
    def limit_size(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA max_page_count = 120").close()

    store = SqlStore(engine)
    study = create(store.studies, make_study(), make_trial())
    acknowledged: list[int] = []
    with pytest.raises(Unavailable, match=r"full.*free some space"):
        _report_for_ever(store.studies, study.uid, acknowledged)
    positions = [told.position for told in store.studies.reports(study.uid)]
    assert positions == list(range(1, sum(acknowledged) + 1))
    assert len(positions) > 1
    assert store.studies.load(study.uid).study == study
    store.close()


def _report_for_ever(studies: StudyStore, uid: StudyUid, acknowledged: list[int]) -> None:
    for number in count():
        told = make_report("x" * 5000 + str(number))
        acknowledged.append(studies.report(uid, 1, [told]))


def test_a_full_disk_loses_nothing_that_was_kept(path: Path) -> None:
    open_store(f"sqlite:///{path}").close()
    engine = make_engine(make_url(f"sqlite:///{path}"), 1.0)

    @event.listens_for(engine, "connect")
    def limit_size(connection: sqlite3.Connection, _record: object) -> None:
        (empty,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {empty + 12}").close()

    store = SqlStore(engine)
    with pytest.raises(Unavailable, match=r"full.*free some space"):
        _fill(store)
    kept = store.list("projects/demo/jobs", where=None, limit=99, after=None).jobs
    assert [job.name.job_id for job in reversed(kept)] == [f"j{n}" for n in range(len(kept))]
    assert len(kept) > 1
    store.delete(make_job("projects/demo/jobs/j0").name, 1)
    store.create(make_job("projects/demo/jobs/new"), ())
    store.close()


def _fill(store: SqlStore) -> None:
    for number in count():
        created = CREATED + number * timedelta(seconds=1)
        job = make_job(f"projects/demo/jobs/j{number}", request="x" * 5000, created=created)
        store.create(job, ())


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"nowhere/footplate\.db.*folder"):
        open_store(f"sqlite:///{tmp_path}/nowhere/footplate.db")


def test_a_folder_in_its_place_is_named(path: Path) -> None:
    path.mkdir()
    with pytest.raises(Unavailable, match=r"footplate\.db.*may write to"):
        open_store(f"sqlite:///{path}")


def test_a_file_of_something_else_is_left_alone(path: Path) -> None:
    path.write_text("precious " * 1000)
    with pytest.raises(DataLoss, match="file is not a database"):
        open_store(f"sqlite:///{path}")
    assert path.read_text() == "precious " * 1000


def test_a_damaged_file_is_data_loss(path: Path, store: SqlStore) -> None:
    store.close()
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    path.write_bytes(raw)
    with pytest.raises(DataLoss, match="damaged"):
        store.get(make_job().name)


def test_busy_connections_are_unavailable(path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}", pool_size=1, max_overflow=0, pool_timeout=0.01)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
        with pytest.raises(Unavailable, match="busy"), translated(engine.url), engine.connect():
            pass
    engine.dispose()


def test_a_message_is_one_line_without_the_password() -> None:
    url = make_url("postgresql+psycopg://user:secret@host/db")
    message = unavailable(url, "connection failed:\n  refused\n").message
    assert "secret" not in message
    assert message == (
        "the database postgresql+psycopg://user:***@host/db can't be used now"
        " (connection failed: refused): check that PostgreSQL runs there and lets this user in"
    )
