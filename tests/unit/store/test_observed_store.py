"""What is told of writes, above all of those that failed: they may have happened nevertheless."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobUid, StudyUid
from footplate.store import ObservedStore
from tests.support.jobs import CREATED, make_job
from tests.support.run_contract import make_run, make_tuning_job
from tests.support.store import MemoryStore
from tests.support.study_records import (
    create,
    make_report,
    make_study,
    make_trial,
    next_version,
)

JOB = make_job()
LATER = replace(JOB, version=JOB.version + 1)
NOTE = JobEvent(CREATED, "NOTE", "something")
WRITTEN: dict[str, list[Job | None]] = {
    "create": [JOB],
    "update": [LATER],
    "append": [],
    "delete": [None],
}


class Rig:
    def __init__(self) -> None:
        self.kept = MemoryStore()
        self.told: list[tuple[str, JobUid]] = []
        self.written: list[Job | None] = []
        self.store = ObservedStore(
            self.kept,
            self._changed,
            lambda uid: self.told.append(("appended", uid)),
        )

    def _changed(self, uid: JobUid, job: Job | None) -> None:
        self.told.append(("changed", uid))
        self.written.append(job)

    def write(self, method: str) -> None:
        match method:
            case "create":
                self.store.create(JOB, ())
            case "update":
                self.store.update(LATER, (NOTE,))
            case "append":
                self.store.append(JOB.uid, (NOTE,))
            case "delete":
                self.store.delete(JOB.name, JOB.version)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("method", ["create", "update", "append", "delete"])
def test_each_write_is_told_after_it_also_if_it_failed(
    method: str,
    fails: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig()
    if method != "create":
        rig.kept.create(JOB, ())
    write, order = getattr(rig.kept, method), rig.told

    def watched(*arguments: object) -> None:
        assert order == [], "told before it was written"
        write(*arguments)
        if fails:
            raise Unavailable("the answer was lost")

    monkeypatch.setattr(rig.kept, method, watched)
    if fails:
        with pytest.raises(Unavailable):
            rig.write(method)
    else:
        rig.write(method)

    assert rig.told == [("appended" if method == "append" else "changed", JOB.uid)]
    # What a failed write has left must be read.
    assert rig.written == ([None] * len(WRITTEN[method]) if fails else WRITTEN[method])


def test_of_a_tuning_job_that_is_deleted_its_runs_and_its_study_are_told() -> None:
    rig, heard = Rig(), list[StudyUid]()
    store = ObservedStore(rig.kept, rig._changed, lambda _: None, heard.append)
    parent = make_tuning_job()
    run = make_run(parent, 1)
    for job in (parent, run):
        rig.kept.create(job, ())

    store.delete(parent.name, parent.version)

    assert rig.told == [("changed", parent.uid), ("changed", run.uid)]
    assert heard == [StudyUid(parent.uid)]


class Library:
    """Studies, and what is told of them."""

    def __init__(self) -> None:
        self.kept = MemoryStore()
        self.told: list[StudyUid] = []
        store = ObservedStore(self.kept, lambda *_: None, lambda _: None, self.told.append)
        self.studies = store.studies

    def write(self, method: str) -> None:
        match method:
            case "create":
                self.studies.create(make_study())
            case "write":
                self.studies.write(next_version(STUDY), [make_trial(2)])
            case "report":
                assert self.studies.report(STUDY.uid, 1, [make_report("k")]) == 1
            case "delete":
                self.studies.delete(STUDY.uid)


STUDY = next_version(make_study())


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("method", ["create", "write", "report", "delete"])
def test_each_write_to_a_study_is_told_after_it_also_if_it_failed(
    method: str,
    fails: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = Library()
    if method != "create":
        create(library.kept.studies, make_study(), make_trial())
    write, order = getattr(library.kept.studies, method), library.told

    def watched(*arguments: object) -> object:
        assert order == [], "told before it was written"
        answer = write(*arguments)
        if fails:
            raise Unavailable("the answer was lost")
        return answer

    monkeypatch.setattr(library.kept.studies, method, watched)
    if fails:
        with pytest.raises(Unavailable):
            library.write(method)
    else:
        library.write(method)

    assert library.told == [STUDY.uid]
