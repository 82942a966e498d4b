"""Trials that a store remembers: always those of the version that the database has."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from footplate.domain.names import StudyUid
from footplate.store.database_setup import bring_up_to_date
from footplate.store.sql_engines import make_engine, parse_url
from footplate.store.studies.studies import SqlStudies
from footplate.store.studies.trial_cache import TrialCache
from footplate.store.transactions import Transactions
from tests.support.study_records import create, make_study, make_trial, next_version

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Engine

A, B, C = (StudyUid(uid) for uid in "abc")
ONE, TWO, THREE = (make_trial(number) for number in (1, 2, 3))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = make_engine(parse_url(f"sqlite:///{tmp_path}/jobs.db"), 15.0)
    bring_up_to_date(engine)
    with closing(Transactions(engine)):
        yield engine


def test_only_the_remembered_version_is_found() -> None:
    memory = TrialCache()
    memory.put(A, 4, (ONE,))
    found = [memory.get(A, version) for version in (3, 4, 5)]
    assert found == [None, (ONE,), None]


def test_an_older_version_comes_too_late() -> None:
    memory = TrialCache()
    memory.put(A, 4, (ONE, TWO))
    memory.put(A, 3, (ONE,))
    assert memory.get(A, 4) == (ONE, TWO)


def test_what_was_written_follows_on_the_version_before() -> None:
    memory = TrialCache()
    memory.put(A, 4, (ONE, THREE))
    memory.follow(A, 5, [TWO], [1])
    assert memory.get(A, 5) == (TWO, THREE)


@pytest.mark.parametrize("version", [4, 6])
def test_nothing_follows_on_another_version(version: int) -> None:
    memory = TrialCache()
    memory.put(A, 4, (ONE,))
    memory.follow(A, version, [TWO], [])
    assert memory.get(A, 4) == (ONE,)
    assert memory.get(A, 6) is None


def test_the_longest_unread_study_is_forgotten_first() -> None:
    memory = TrialCache(most=4)
    memory.put(A, 1, (ONE, TWO))
    memory.put(B, 1, (ONE, TWO))
    memory.get(A, 1)
    memory.put(C, 1, (ONE,))
    assert [memory.get(uid, 1) is None for uid in (A, B, C)] == [False, True, False]


def test_the_newest_study_stays_however_large_it_is() -> None:
    memory = TrialCache(most=1)
    memory.put(A, 1, (ONE,))
    memory.put(B, 1, (ONE, TWO))
    assert [memory.get(uid, 1) for uid in (A, B)] == [None, (ONE, TWO)]


def test_trials_are_not_read_again_after_own_writes(engine: Engine) -> None:
    studies = SqlStudies(Transactions(engine))
    study = create(studies, make_study(), make_trial(1))
    studies.load(study.uid)
    asked: list[str] = []

    def note(*given: object) -> None:
        asked.append(str(given[2]))

    event.listen(engine, "before_cursor_execute", note)
    studies.write(next_version(study), [make_trial(2)])
    kept = studies.load(study.uid)

    assert [trial.number for trial in kept.trials] == [1, 2]
    read = [query for query in asked if query.startswith("SELECT")]
    assert read
    assert not any("FROM trials" in query for query in read)
