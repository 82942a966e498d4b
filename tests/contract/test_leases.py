"""One contract, two kinds of leases; and what holds where servers share a database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from queue import Queue

import pytest
from sqlalchemy import text

from footplate.domain.errors import NotLeading, Unavailable
from footplate.ports.leases import Leases
from footplate.ports.notifications import Notice, NoticeKind
from footplate.store import SqlStore, open_store
from footplate.store.servers import SingleServerLeases
from footplate.store.sql_engines import make_engine, parse_url
from tests.support.deadlines import EVENT_S
from tests.support.jobs import make_job
from tests.support.leases import MemoryLeases
from tests.support.leases_contract import LIFE_S, LeasesContract
from tests.support.postgresql import Postgresql
from tests.support.study_records import make_study
from tests.support.tracking import HERE, make_resource


class TestSoleLeases(LeasesContract):
    @pytest.fixture
    def leases(self) -> Leases:
        return SingleServerLeases()


class TestMemoryLeases(LeasesContract):
    @pytest.fixture
    def leases(self) -> Leases:
        return MemoryLeases()


@pytest.fixture
def url(postgresql: Postgresql) -> str:
    return postgresql.create_database()


@pytest.fixture
def store(url: str) -> Iterator[SqlStore]:
    with closing(open_store(url, server="one")) as store:
        yield store


@pytest.fixture
def other(url: str, store: SqlStore) -> Iterator[SqlStore]:
    with closing(open_store(url, server="other")) as other:
        yield other


class TestSqlLeases(LeasesContract):
    @pytest.fixture
    def leases(self, store: SqlStore) -> Leases:
        return store.leases()

    def test_one_that_is_over_is_anybodys_and_not_renewed(self, store: SqlStore) -> None:
        leases = store.leases()
        taken = leases.take("a", "http://a", 0.0)
        assert taken is not None
        assert leases.renew(taken, LIFE_S) is None
        again = leases.take("b", "http://b", LIFE_S)
        assert again is not None
        assert again.epoch == 2

    def test_of_many_who_want_it_one_gets_it(self, url: str, store: SqlStore) -> None:
        start = threading.Barrier(8)
        taken: Queue[object] = Queue()

        def take(name: str) -> None:
            start.wait()
            taken.put(store.leases().take(name, "http://x", LIFE_S))

        threads = [threading.Thread(target=take, args=(str(n),)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(taken.get() is not None for _ in threads) == 1


def test_who_led_once_writes_nothing_any_more(store: SqlStore, other: SqlStore) -> None:
    leases = store.leases()
    lease = leases.take("one", "http://one", LIFE_S)
    assert lease is not None
    fenced = store.fenced(lease)
    fenced.create(make_job(), ())
    fenced.studies.create(make_study())
    assert other.leases().take("other", "http://other", LIFE_S, unrenewed=lease) is not None

    job = make_job("projects/demo/jobs/late")
    with pytest.raises(NotLeading):
        fenced.create(job, ())
    with pytest.raises(NotLeading):
        fenced.append(make_job().uid, ())
    with pytest.raises(NotLeading):
        fenced.studies.delete(make_study().uid)
    with pytest.raises(NotLeading):
        fenced.quotas.change("demo", "*", {"vcpus": 1})
    assert [each.name for each in store.active()] == [make_job().name]
    assert fenced.active() == store.active()
    store.create(job, ())


def test_an_epoch_that_is_given_out_twice_is_its_last_holders(store: SqlStore) -> None:
    """As by a database that has lost its latest writes with the machine that it was on."""
    leases = store.leases()
    lease = leases.take("one", "http://one", LIFE_S)
    assert lease is not None
    leases.release(lease)
    with store._transactions.writing() as connection:  # no server can do that
        connection.execute(text("DELETE FROM leases"))
    again = leases.take("other", "http://other", LIFE_S)
    assert again is not None
    assert again.epoch == lease.epoch
    with pytest.raises(NotLeading):
        store.fenced(lease).create(make_job(), ())
    store.fenced(again).create(make_job(), ())


def test_a_taking_waits_for_what_the_leader_is_writing(store: SqlStore, url: str) -> None:
    lease = store.leases().take("one", "http://one", LIFE_S)
    assert lease is not None
    transactions = store.fenced(lease)._transactions  # a write in its middle has no other handle
    with closing(open_store(url, server="other")) as other:
        taker = threading.Thread(
            target=other.leases().take, args=("other", "http://other", LIFE_S, lease)
        )
        with transactions.writing() as connection:
            taker.start()
            waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            while not connection.scalar(waiting):
                pass
            seen = store.leases().inspect()
            assert seen is not None
            assert seen.holder == "one"
        taker.join()
        seen = store.leases().inspect()
        assert seen is not None
        assert seen.holder == "other"


def test_whoever_stands_idle_in_a_transaction_is_put_out(url: str, store: SqlStore) -> None:
    engine = make_engine(parse_url(url), 5.0)
    with engine.connect() as connection:
        shown = connection.scalar(text("SHOW idle_in_transaction_session_timeout"))
    engine.dispose()
    assert shown == "5s"


class Heard:
    """What a listener of ``store`` hears."""

    def __init__(self, store: SqlStore) -> None:
        self._heard: Queue[Notice | None] = Queue()
        listener = store.listen(self._heard.put, lambda: self._heard.put(None))
        assert listener is not None
        self.listener = listener

    def next(self) -> Notice | None:
        """None: that something may have been missed."""
        return self._heard.get(timeout=EVENT_S)

    def __enter__(self) -> Heard:
        self.listener.start()
        assert self.next() is None
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()


def test_servers_hear_what_others_write_and_not_what_they_do(
    store: SqlStore, other: SqlStore
) -> None:
    job = make_job()
    with Heard(other) as heard:
        other.quotas.change("ads", "*", {"vcpus": 1})
        store.create(job, ())
        assert heard.next() == Notice(NoticeKind.JOB, job.uid)
        store.append(job.uid, ())
        assert heard.next() == Notice(NoticeKind.EVENTS, job.uid)
        store.quotas.remove("ads", "*")
        assert heard.next() == Notice(NoticeKind.QUOTAS)
        study = make_study()
        store.studies.create(study)
        assert heard.next() == Notice(NoticeKind.STUDY, study.uid)
        dataset = make_resource(f"{HERE}/datasets/1")
        store.tracking.create((dataset,))
        store.tracking.write(replace(dataset, version=2))
        assert heard.next() == Notice(NoticeKind.MODEL, str(dataset.name))
        store.leases().take("one", "http://one", LIFE_S)
        assert heard.next() == Notice(NoticeKind.LEASE)
        store.delete(job.name, job.version)
        assert heard.next() == Notice(NoticeKind.JOB, job.uid)


def tell_and_fail(store: SqlStore) -> None:
    with store._transactions.writing() as connection:
        store._transactions.tell(connection, NoticeKind.JOB, "never")
        raise ZeroDivisionError


def test_what_fails_is_not_told(store: SqlStore, other: SqlStore) -> None:
    job = make_job()
    with Heard(other) as heard:
        with pytest.raises(ZeroDivisionError):
            tell_and_fail(store)
        store.create(job, ())
        assert heard.next() == Notice(NoticeKind.JOB, job.uid)


def test_after_a_lost_connection_everything_may_have_changed(
    url: str, postgresql: Postgresql, store: SqlStore
) -> None:
    with Heard(store) as heard:
        postgresql.stop()
        with pytest.raises(Unavailable):
            store.active()
        postgresql.start()
        assert heard.next() is None
        with closing(open_store(url, server="other")) as other:
            other.create(make_job(), ())
        assert heard.next() == Notice(NoticeKind.JOB, make_job().uid)


def make_table_and_fail(store: SqlStore) -> None:
    with store._transactions.writing() as connection:
        connection.execute(text("CREATE TABLE left_behind ()"))
        raise ZeroDivisionError


def test_what_fails_where_a_listener_was_is_taken_back(store: SqlStore) -> None:
    """Its connection commits each statement at once, so it may serve nobody after it."""
    with Heard(store):
        pass
    with pytest.raises(ZeroDivisionError):
        make_table_and_fail(store)
    with store._transactions.writing() as connection:
        assert connection.execute(text("SELECT to_regclass('left_behind')")).scalar_one() is None
