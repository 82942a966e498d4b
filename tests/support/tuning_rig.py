"""A tuning job with everything that it stands on, and runs that do what a test says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.control.job_updates import apply
from footplate.control.models import ModelRegistry
from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Directory, Ending, JobEvent
from footplate.domain.lifecycle import CancelRequested
from footplate.domain.names import StudyUid, run_uid
from footplate.domain.studies.learning_curves import report_key
from footplate.domain.studies.records import Report
from footplate.server.tuning_services import TuningServices
from footplate.store import ObservedStore
from tests.support.clock import FakeClock
from tests.support.crashes import Crash, CrashPoint, die, mortal
from tests.support.models import MemoryFiles
from tests.support.pipeline_rig import FakeData
from tests.support.searches import make_tuning_job
from tests.support.store import MemoryStore
from tests.support.vizier import CountingIds

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.jobs import Job
    from footplate.domain.names import JobUid
    from footplate.domain.studies.records import StudyRecord, TrialRecord
    from footplate.domain.tuning.search import Search

_JOB_WRITES = ("create", "update", "append", "delete")
_STUDY_WRITES = ("create", "write", "report", "delete")
_REST = 50
"""More looks than anything takes to come to rest."""


class SearchRig:
    """``crash_point``: where it is armed for, the service dies, and is born again by the next
    step.
    """

    def __init__(self, fault: Callable[[], None] = die) -> None:
        """``fault`` is what happens there instead."""
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.crash_point = CrashPoint(fault)
        self.job: Job = make_tuning_job()
        self.be_reborn()

    def be_reborn(self) -> None:
        """The service dies, wherever it is; the next one remembers nothing."""
        jobs = mortal(self.store, self.crash_point, *_JOB_WRITES)
        studies = mortal(self.store.studies, self.crash_point, *_STUDY_WRITES)
        told = ObservedStore(jobs, self._changed, self._changed)
        self.woken = 0
        self.parts = TuningServices(told, studies, self.clock, self._changed)
        registry = ModelRegistry(self.store.models, MemoryFiles(), self.clock, CountingIds())
        self.tuner = self.parts.make_tuner(
            told, studies, registry, FakeData(), self._wake, lambda: None
        )

    def _wake(self) -> None:
        self.woken += 1

    def _changed(self, uid: JobUid, _job: Job | None = None) -> None:
        self.tuner.changed(uid)

    def submit(
        self,
        search: Search | None = None,
        name: str = "projects/demo/jobs/search",
        directory: str = "",
    ) -> Job:
        """``directory``: where it writes to."""
        self.job = make_tuning_job(name, search, uid=name.rpartition("/")[2])
        if directory:
            given = (Directory(None, directory, "trainingInput.jobDir"),)
            spec = replace(self.job.spec, job_dir=directory, directories=given)
            self.job = replace(self.job, spec=spec)
        self.store.create(self.job, (JobEvent(self.clock.now(), "QUEUED", ""),))
        self.tuner.begin(self.job.uid)
        return self.job

    def step(self) -> bool:
        """One pass of the tuner; False: the service died over it."""
        try:
            self.tuner.step()
        except Crash:
            self.be_reborn()
            return False
        return True

    def settle(self) -> None:
        """Until nothing follows of what is."""
        for _ in range(_REST):
            before = self._look()
            if self.step() and self._look() == before:
                return
        raise AssertionError("the tuner does not come to rest")

    def _look(self) -> object:
        jobs = [(job.uid, job.version) for job in self.store.active()]
        return jobs, self.trials(), self.state_now()

    def state_now(self) -> State:
        return self.store.get_by_uid(self.job.uid).state

    @property
    def ending(self) -> Ending | None:
        return self.store.get_by_uid(self.job.uid).ending

    @property
    def study(self) -> StudyRecord:
        return self.store.studies.load(StudyUid(self.job.uid)).study

    def trials(self) -> tuple[TrialRecord, ...]:
        return self.parts.trials.trials(self.job.uid)

    def trial(self, number: int) -> TrialRecord:
        return next(trial for trial in self.trials() if trial.number == number)

    def runs(self) -> dict[int, Job]:
        """Those that haven't ended, by the numbers of their trials."""
        active = [job for job in self.store.active() if job.tuning_job == self.job.uid]
        return {int(job.spec.trial or 0): job for job in active}

    def told(self, kind: str) -> list[str]:
        events = self.store.events(self.job.uid)
        return [each.event.message for each in events if each.event.kind == kind]

    def prepare(self, number: int) -> None:
        self._put(replace(self._run(number), state=State.PREPARING, attempt=1))

    def begin(self, number: int) -> None:
        run, now = self._run(number), self.clock.now()
        self._put(replace(run, state=State.RUNNING, attempt=1, start_time=now))

    def end(self, number: int, state: State = State.SUCCEEDED, message: str = "") -> None:
        """The run of a trial has ended, whatever it was told to do."""
        code = {State.SUCCEEDED: Code.OK, State.CANCELLED: Code.CANCELLED}.get(state, Code.ABORTED)
        ending = Ending(state, code, message)
        run, now = self._run(number), self.clock.now()
        self._put(replace(run, state=state, end_time=now, ending=ending))

    def report(
        self,
        number: int,
        value: float,
        step: int = 1,
        metric: str = "rmse",
        source: str = "hypertune",
    ) -> None:
        now = self.clock.now()
        key = report_key(metric, source, step, now.timestamp(), value)
        report = Report(key, {metric: value}, step, float(step), now, source)
        self.store.studies.report(StudyUid(self.job.uid), number, [report])
        self.tuner.changed(self.job.uid)

    def finish(self, number: int, value: float) -> None:
        """The run begins, reports once, and ends well; what follows is done."""
        self.begin(number)
        self.report(number, value)
        self.end(number)
        self.settle()

    def cancel(self) -> None:
        apply(self.store, self.job.uid, CancelRequested(self.clock.now()))
        self.tuner.changed(self.job.uid)

    def delete(self) -> None:
        """The job has ended, and is removed with all that is kept of it."""
        job = self.store.get_by_uid(self.job.uid)
        self.store.delete(job.name, job.version)
        self.tuner.changed(job.uid)

    def _run(self, number: int) -> Job:
        return self.store.get_by_uid(run_uid(self.job.uid, number))

    def _put(self, run: Job) -> None:
        self.store.update(replace(run, version=run.version + 1), ())
        self.tuner.changed(run.uid)
