"""Stored studies and trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from footplate.domain.job_states import State
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.space import Point
from footplate.domain.studies.study import Study, StudyConfig
from footplate.domain.studies.trials import Trial, TrialState


class StudyState(Enum):
    """The state of a study. Source: Study.State of aiplatform v1."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    """Nothing is suggested: one of its limits is reached."""
    COMPLETED = "completed"
    """It has ended: its job has, or every point was tried."""


@dataclass(frozen=True)
class StudyRecord:
    """A stored study.

    ``version`` counts the writes of the study and of its trials, and guards each of them.
    """

    uid: StudyUid
    name: StudyName | None
    """None: it belongs to the tuning job of the same uid, and is in no list."""
    display_name: str
    config: StudyConfig
    request: str
    """The accepted ``studySpec``, or ``studyConfig`` of ml v1, as a JSON object, given back as it
    is; of a tuning job ``{}``."""
    seed: int
    """Of all that is drawn for it; 0 or more."""
    create_time: datetime
    earlier: tuple[Study, ...] = ()
    """What it learns from, as it was when the study was made; oldest first."""
    made: int = 0
    """The number of the last trial ever made, also after it was deleted; before the first one, the
    number that they go on from."""
    ended: int = 0
    """How many trials have ever ended."""
    state: StudyState = StudyState.ACTIVE
    why_inactive: str = ""
    version: int = 1


@dataclass(frozen=True)
class PredictionRecord:
    """A stored prediction; see :class:`footplate.tuning.designer.Prediction`."""

    metric: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SuggestionRecord:
    """The origin of a point: with the study it is enough to suggest the same point again.

    The suggestion was based on the first ``finished`` trials, in the order of their ends, and on
    all ``pending`` ones.
    """

    reason: str
    """``grid``, ``random``, ``initial design``, ``explore`` or ``exploit``."""
    sentence: str
    finished: int
    pending: tuple[int, ...] = ()
    model: int | None = None
    """The model that was fitted to so many finished trials; None: none was needed."""
    seed: int = 0
    version: str = ""
    """Of the tuner, and of the libraries that its arithmetic depends on."""
    predictions: tuple[PredictionRecord, ...] = ()
    distance: float | None = None


@dataclass(frozen=True)
class TrialRecord:
    number: int
    """In the order of their making, from 1 or from where the search that it resumes ended; never
    given again in its study."""
    point: Point
    create_time: datetime
    state: TrialState = TrialState.REQUESTED
    start_time: datetime | None = None
    """When it was handed out, or its program began."""
    end_time: datetime | None = None
    ended_as: int = 0
    """Its place, from 1, in the order in which trials of the study ended; 0: it hasn't."""
    client_id: str = ""
    suggestion: SuggestionRecord | None = None
    """None: the user's own point."""
    measurements: tuple[Measurement, ...] = ()
    """Of a trial that is reported in one piece; those that are reported singly are kept apart."""
    final: Measurement | None = None
    outcome: State | None = None
    """How the job that ran it ended: SUCCEEDED, FAILED or CANCELLED; None: it hasn't.

    What it is worth is another question, see ``verdict``.
    """
    infeasible_reason: str = ""
    stop_reason: str = ""
    """Why it was told to stop before its time; empty: it wasn't."""
    machine_s: float = 0.0
    tags_seen: tuple[str, ...] = ()
    """The tags that its program reported, where its metric isn't among them."""

    @property
    def stopped_early(self) -> bool:
        return bool(self.stop_reason)

    @property
    def verdict(self) -> State | None:
        """Returns the trial's end as a state of a job; None: it hasn't ended.

        The result is FAILED as well if the program succeeded without reporting a value.
        """
        if self.state is TrialState.SUCCEEDED:
            return State.SUCCEEDED
        if self.state is not TrialState.INFEASIBLE:
            return None
        return State.CANCELLED if self.outcome is State.CANCELLED else State.FAILED

    def trial(self, measurements: tuple[Measurement, ...] = ()) -> Trial:
        """Returns the trial as the search sees it."""
        return Trial(
            number=self.number,
            point=self.point,
            state=self.state,
            measurements=(*self.measurements, *measurements),
            final=self.final,
            machine_s=self.machine_s,
            stopped_early=self.stopped_early,
        )


@dataclass(frozen=True)
class Report:
    """A measurement as it was reported for a trial; a trial keeps one report of each ``key``."""

    key: str
    values: Mapping[str, float]
    """By the names of metrics; not always finite."""
    step: int
    elapsed_s: float
    """Since the trial started."""
    time: datetime
    source: str = ""
    """Where the program wrote it: ``hypertune``, or the folder of an event file below its
    directory (``eval``, ``logs/train``); empty: a client told it."""


@dataclass(frozen=True)
class StoredReport:
    """A stored report; ``position`` ascends over all reports of a study, as they arrive."""

    position: int
    number: int
    """Of the trial."""
    report: Report
