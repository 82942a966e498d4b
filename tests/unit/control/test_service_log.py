"""The service's reasons in the logs of jobs: each once, whatever fails in between."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from footplate.control.service_log import ServiceLog
from footplate.domain.jobs import JobEvent
from footplate.domain.names import JobUid
from footplate.domain.service_log_lines import SERVICE
from tests.support.jobs import CREATED, make_job
from tests.support.logs import MemoryLogs
from tests.support.run_contract import make_run, make_tuning_job
from tests.support.store import MemoryStore

JOB = make_job()
QUEUED = JobEvent(CREATED, "QUEUED", "")
WARNING = JobEvent(CREATED, "WARNING", "the GPU would stand idle")
ISOLATION = JobEvent(CREATED, "ISOLATION", "a pid namespace", 1, "master-replica-0")
FAILED = JobEvent(CREATED, "REPLICA_FAILED", "exit code 1", 1, "master-replica-0")


class Rig:
    def __init__(self) -> None:
        self.store = MemoryStore()
        self.logs = MemoryLogs(lambda: CREATED)
        self.service_log = ServiceLog(self.store, self.logs)

    def happen(self, *events: JobEvent, uid: JobUid = JOB.uid) -> None:
        self.store.append(uid, events)
        self.service_log.follow(uid, events)

    def lines(self, uid: JobUid = JOB.uid) -> list[tuple[str, str, str]]:
        entries = self.logs.read(uid, limit=10_000).entries
        return [(e.replica, e.line.severity, e.line.message) for e in entries]


@pytest.fixture
def rig() -> Rig:
    made = Rig()
    made.store.create(JOB, (QUEUED, WARNING))
    made.service_log.follow(JOB.uid, (QUEUED, WARNING))
    return made


def test_events_with_reasons_become_lines(rig: Rig) -> None:
    rig.happen(ISOLATION)
    rig.happen(FAILED, JobEvent(CREATED, "FAILED", "No module named 'model'"))

    assert rig.lines() == [
        (SERVICE, "WARNING", "the GPU would stand idle"),
        (SERVICE, "ERROR", "master-replica-0: exit code 1"),
        (SERVICE, "ERROR", "No module named 'model'"),
    ]


def test_no_event_is_copied_twice(rig: Rig) -> None:
    rig.service_log.copy(JOB)
    ServiceLog(rig.store, rig.logs).copy(JOB)

    assert len(rig.lines()) == 1


def test_a_crash_between_an_event_and_its_line(rig: Rig) -> None:
    rig.store.append(JOB.uid, (FAILED,))

    rig.service_log.copy(JOB)

    assert [severity for _, severity, _ in rig.lines()] == ["WARNING", "ERROR"]


def test_a_full_disk_fails_no_write_of_the_job(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.logs.full = True
    with caplog.at_level(logging.WARNING):
        rig.happen(FAILED)
    assert "the disk is full" in caplog.text

    rig.logs.full = False
    rig.happen(QUEUED, WARNING)

    assert [severity for _, severity, _ in rig.lines()] == ["WARNING", "ERROR", "WARNING"]


def test_a_job_that_is_known_is_not_read(rig: Rig) -> None:
    rig.store.append(JOB.uid, (FAILED,))
    rig.service_log.follow(JobUid("gone"), (FAILED,), JOB)

    assert [severity for _, severity, _ in rig.lines()] == ["WARNING", "ERROR"]


def test_a_deleted_job_gets_no_log(rig: Rig) -> None:
    rig.service_log.follow(JobUid("gone"), (FAILED,))

    assert rig.lines(JobUid("gone")) == []


def test_many_events(rig: Rig) -> None:
    rig.store.append(JOB.uid, [replace(FAILED, message=f"{n}") for n in range(2500)])

    rig.service_log.copy(JOB)

    assert len(rig.lines()) == 2501


def test_a_trial_writes_into_the_log_of_its_search() -> None:
    rig, search = Rig(), make_tuning_job()
    runs = [make_run(search, number) for number in (1, 2)]
    rig.store.create(search, ())
    for run in runs:
        rig.store.create(run, ())
        rig.happen(FAILED, uid=run.uid)

    entries = rig.logs.read(search.uid).entries
    assert [(entry.replica, entry.trial) for entry in entries] == [(SERVICE, "1"), (SERVICE, "2")]
