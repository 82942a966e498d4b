from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, text

from footplate.domain.errors import Aborted, NotFound
from footplate.domain.job_states import State
from footplate.domain.names import JobUid
from footplate.store import open_store
from footplate.store.job_cache import JobCache
from tests.support.jobs import make_job

if TYPE_CHECKING:
    from pathlib import Path


def test_the_longest_unread_is_forgotten() -> None:
    memory = JobCache(most=2)
    jobs = [make_job(f"projects/p/jobs/{uid}", uid=uid) for uid in "abc"]
    memory.put(jobs[0], 1)
    memory.put(jobs[1], 1)
    memory.get(JobUid("a"))

    memory.put(jobs[2], 1)

    assert [memory.get(JobUid(uid)) is None for uid in "abc"] == [False, True, False]
    assert [memory.find(job.name) is None for job in jobs] == [False, True, False]


def test_a_name_that_was_given_anew_leads_to_the_newer_job() -> None:
    memory = JobCache()
    first, second = (make_job("projects/p/jobs/same", uid=uid) for uid in "ab")
    memory.put(first, 1)
    memory.forget(first.uid)
    memory.put(second, 1)

    found = memory.find(first.name)

    assert found is not None
    assert found.job == second


def test_what_was_written_is_not_read_again(tmp_path: Path) -> None:
    job = make_job()
    url = f"sqlite:///{tmp_path}/footplate.db"
    with closing(open_store(url, sole=True)) as store:
        store.create(job, ())
        _execute(url, "UPDATE jobs SET spec = 'spoilt'")

        assert store.get(job.name) == store.get_by_uid(job.uid) == job
        assert store.active() == (job,)


def test_a_write_that_fails_leaves_what_the_database_has(tmp_path: Path) -> None:
    job = make_job()
    running = replace(job, state=State.PREPARING, version=2)
    url = f"sqlite:///{tmp_path}/footplate.db"
    with closing(open_store(url, sole=True)) as store:
        store.create(job, ())
        _execute(
            url, "CREATE TRIGGER no BEFORE UPDATE ON jobs BEGIN SELECT RAISE(FAIL, 'not now'); END"
        )
        with pytest.raises(Exception, match="not now"):
            store.update(running, ())
        assert store.get(job.name) == job
        _execute(url, "DROP TRIGGER no")

        store.update(running, ())

        assert store.get(job.name) == running
        with pytest.raises(Aborted):
            store.update(running, ())


def test_what_was_deleted_is_forgotten_with_its_runs(tmp_path: Path) -> None:
    parent = make_job()
    run = replace(make_job("projects/p/jobs/run", uid="run"), tuning_job=parent.uid)
    with closing(open_store(f"sqlite:///{tmp_path}/footplate.db", sole=True)) as store:
        store.create(parent, ())
        store.create(run, ())

        store.delete(parent.name, 1)

        for uid in (parent.uid, run.uid):
            with pytest.raises(NotFound):
                store.get_by_uid(uid)


def _execute(url: str, statement: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()
