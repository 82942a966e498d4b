"""Trials of tuning jobs from memory: tests say what there is of them."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from footplate.control.tuning.trials import Trials
from footplate.domain.studies.learning_curves import measurements
from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.parameters import DoubleParameter, IntegerParameter
from footplate.domain.studies.records import Report, StoredReport, TrialRecord
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import StudyConfig
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.search import Search, TrialCounts
from tests.support.jobs import CREATED

if TYPE_CHECKING:
    from footplate.domain.jobs import Job
    from footplate.domain.names import JobUid
    from footplate.domain.studies.records import StudyRecord
    from footplate.domain.studies.stopping import ReplayedStop, StoppingSpec

LOSS = Metric("loss", Goal.MINIMIZE)
STUDY = StudyConfig(
    SearchSpace((DoubleParameter("rate", 0.0, 1.0), IntegerParameter("layers", 1, 9))), (LOSS,)
)
SEARCH = Search(STUDY, TrialCounts(trials=9, parallel=2))


def succeeded(number: int, loss: float, *, step: int = 10, machine_s: float = 60.0) -> TrialRecord:
    """A trial of `STUDY` that has ended with this loss; a minute after the one before it."""
    start = CREATED + timedelta(minutes=number)
    return TrialRecord(
        number=number,
        point={"rate": number / 100, "layers": number},
        create_time=start,
        state=TrialState.SUCCEEDED,
        start_time=start,
        end_time=start + timedelta(seconds=machine_s),
        ended_as=number,
        final=Measurement({"loss": loss}, step, machine_s),
        machine_s=machine_s,
    )


class MemoryTrials(Trials):
    """``asked``: whose reports were read."""

    def __init__(self) -> None:
        self.asked: list[tuple[JobUid, int]] = []
        self.replayed: list[tuple[JobUid, StoppingSpec]] = []
        self.stops: tuple[ReplayedStop, ...] = ()
        self.studies: dict[str, StudyRecord] = {}
        self.kept: dict[str, tuple[TrialRecord, ...]] = {}
        self.running: dict[str, dict[int, Job]] = {}
        self._reports: dict[tuple[str, int], list[StoredReport]] = defaultdict(list)
        self._position = 0

    def keep(self, job: Job, *trials: TrialRecord) -> None:
        """Let these be all trials of a job."""
        self.kept[job.uid] = trials

    def report(self, job: Job, number: int, step: int, **values: float) -> None:
        """Let a trial report values at a step."""
        self._position += 1
        time = CREATED + timedelta(seconds=self._position)
        report = Report(f"r{self._position}", values, step, float(step), time, "hypertune")
        self._reports[job.uid, number].append(StoredReport(self._position, number, report))

    def study(self, uid: JobUid) -> StudyRecord | None:
        return self.studies.get(uid)

    def trials(self, uid: JobUid) -> tuple[TrialRecord, ...]:
        return self.kept.get(uid, ())

    def runs(self, job: Job) -> dict[int, Job]:
        return self.running.get(job.uid, {})

    def curves(self, uid: JobUid) -> dict[int, tuple[Measurement, ...]]:
        numbers = [number for job, number in self._reports if job == uid]
        kept = {n: [stored.report for stored in self._reports[uid, n]] for n in numbers}
        return {number: measurements(reports, (LOSS,)) for number, reports in kept.items()}

    def replay(self, uid: JobUid, spec: StoppingSpec) -> tuple[ReplayedStop, ...]:
        self.replayed.append((uid, spec))
        return self.stops

    def reports(self, uid: JobUid, number: int) -> tuple[StoredReport, ...]:
        self.asked.append((uid, number))
        return tuple(self._reports[uid, number])
