"""The trials of a tuning job, in full detail."""

from functools import cached_property

from pydantic import Field, JsonValue

from footplate.domain.names import JobName, TrainingJobName, parse_job_name
from footplate.wire.footplate_v1.answer import Answer, Number
from footplate.wire.json_text import JsonObject
from footplate.wire.trial_states import STATES, training_state


class Measurement(Answer):
    """A report: ``values`` by the names of metrics, and the time since the start of its trial."""

    position: int = 0
    """It ascends with the reports of a trial."""
    step: int = 0
    time: str = ""
    elapsed_seconds: Number = 0.0
    source: str = ""
    """Where the program wrote it, such as ``hypertune``; empty where that isn't known."""
    values: dict[str, Number] = Field(default_factory=dict)


class Measurements(Answer):
    """The reports of a trial, in the order of arrival."""

    measurements: tuple[Measurement, ...] = ()


class Prediction(Answer):
    """A metric's predicted value, most likely between ``low`` and ``high``."""

    metric: str = ""
    value: Number = 0.0
    low: Number = 0.0
    high: Number = 0.0


class Suggestion(Answer):
    """The reason why a point was tried: ``reason`` in a word or two; ``sentence``: all of it."""

    reason: str = ""
    sentence: str = ""
    finished: int = 0
    pending: tuple[int, ...] = ()
    seed: str = ""
    version: str = ""
    predictions: tuple[Prediction, ...] = ()
    model: int | None = None
    distance: Number | None = None


class Run(Answer):
    """The job that runs a trial; ``pending_explanation``: why it waits, or is being prepared."""

    name: str = ""
    state: str = ""
    pending_explanation: str = ""


class Trial(Answer):
    number: int = 0
    state: str = ""
    """One of STATES."""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    """Without those that aren't active in it."""
    create_time: str = ""
    stopped_early: bool = False
    start_time: str = ""
    end_time: str = ""
    machine_seconds: Number = 0.0
    """Seconds times machines."""
    client_id: str = ""
    infeasible_reason: str = ""
    stop_reason: str = ""
    """Why it was stopped before its time; empty: it wasn't."""
    tags_seen: tuple[str, ...] = ()
    """What its program reported, where its metric isn't among that."""
    outcome: str = ""
    final: Measurement | None = None
    """What it is judged by."""
    measurements: tuple[Measurement, ...] = ()
    suggestion: Suggestion | None = None
    """None: the user's own point."""
    run: Run | None = None
    latest: Measurement | None = None
    """The last report of one that runs."""

    @property
    def ended(self) -> bool:
        return self.state in STATES[-2:]

    @property
    def measured(self) -> Measurement | None:
        """Returns what it is judged by; while it runs, its latest measurement."""
        return self.final or self.latest

    @property
    def waits(self) -> str:
        """Returns why its run waits, or how it is being prepared; empty: neither."""
        return self.run.pending_explanation if self.run else ""


class Metric(Answer):
    name: str = ""
    goal: str = ""
    """MAXIMIZE or MINIMIZE."""


class Counts(Answer):
    """The numbers of trials that a search may have, at a time, and without a result."""

    trials: int = 0
    parallel: int = 0
    failed: int = 0


class EarlierTrial(Answer):
    number: int = 0
    """In its study; 0: it is of what that had learned from."""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    final: Measurement = Measurement()


class Earlier(Answer):
    """A study that a search continues or learns from."""

    source: str = ""
    """The id of the job or study."""
    trials: int = 0
    """Finished ones, also of what ``source`` itself had learned from."""
    equal: bool = False
    best: EarlierTrial | None = None


class TrialList(Answer):
    """All trials of a tuning job so far, in the order of their numbers, or the chosen ones."""

    name: str
    display_name: str = ""
    state: str = ""
    """Of the job."""
    metrics: tuple[Metric, ...] = ()
    parameters: tuple[str, ...] = ()
    """All of the search space, in its order."""
    algorithm: str = ""
    selection: str = ""
    counts: Counts = Counts()
    best: tuple[int, ...] = ()
    """No other is better; with several metrics: in all of them."""
    tie: str = ""
    """Why the best one, and not another that is as good; empty: none is."""
    resumes: str = ""
    earlier: Earlier | None = None
    """None: the search learned from no other."""
    study_state: str = ""
    why_inactive: str = ""
    trials: tuple[Trial, ...] = ()

    @cached_property
    def job(self) -> JobName:
        return parse_job_name(self.name)

    @property
    def goals(self) -> dict[str, str]:
        """Returns the goal of each metric, by its name."""
        return {metric.name: metric.goal for metric in self.metrics}

    def shown_state(self, trial: Trial) -> str:
        """Returns the trial's state in the words of the job's API."""
        if not isinstance(self.job, TrainingJobName):
            return trial.state
        return training_state(trial.state, trial.outcome, trial.run.state if trial.run else "")

    def shown(self, trial: Trial) -> JsonObject:
        """Returns the trial as the server sent it, but for its state."""
        return {**trial.encode(), "state": self.shown_state(trial)}
