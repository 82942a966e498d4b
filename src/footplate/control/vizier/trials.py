"""Trials of Vizier studies, as clients see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from footplate.control.vizier.study_updates import change
from footplate.domain.errors import NotFound
from footplate.domain.names import StudyName
from footplate.domain.studies import transitions
from footplate.domain.studies.measurement_input import (
    check_metrics,
    check_whole,
    curve,
    report_of,
    timed,
)
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.ranking import pareto_optimal
from footplate.domain.studies.records import StudyRecord, TrialRecord
from footplate.domain.studies.transitions import Change, Outcome
from footplate.domain.studies.user_trials import NewTrial, bring
from footplate.ports.clock import Clock
from footplate.ports.studies import StudyStore, StudyWithTrials
from footplate.wire.vertex_v1.vizier_requests import metric_ids


@dataclass(frozen=True)
class MeasuredTrial:
    """A trial with its intermediate measurements, in order."""

    trial: TrialRecord
    measurements: tuple[Measurement, ...] = ()


@dataclass(frozen=True)
class TrialPage:
    """A page of trials in the order of numbers; ``next_key`` continues it, None at the end."""

    trials: tuple[MeasuredTrial, ...]
    next_key: str | None


@dataclass(frozen=True)
class StudyTrials:
    """The trials of studies.

    ``prepare`` is called with a study after a trial has ended, to compute the next suggestion
    early. Every method raises NotFound if the study or the trial doesn't exist.
    """

    store: StudyStore
    clock: Clock
    prepare: Callable[[StudyWithTrials], None]

    def create(self, name: StudyName, new: NewTrial) -> MeasuredTrial:
        """Adds a user's trial. Raises InvalidArgument: the study can't have such a trial."""
        study = self.store.find(name).study
        for index, measurement in enumerate(new.measurements):
            check_metrics(measurement, metric_ids(study.request), f"measurements[{index}]")
        _check_final(study, new.final)
        made = change(self.store, name, lambda kept: bring(kept.study, new, self.clock.now()))
        if new.state.ended:
            self.prepare(self.store.find(name))
        return MeasuredTrial(_changed(made))

    def get(self, name: StudyName, number: int) -> MeasuredTrial:
        kept = self.store.find(name)
        return self._told(kept, find(kept, number))

    def all(self, name: StudyName) -> tuple[TrialRecord, ...]:
        """Returns all trials, without their intermediate measurements."""
        return self.store.find(name).trials

    def list(self, name: StudyName, *, limit: int, after: int | None) -> TrialPage:
        kept = self.store.find(name)
        rest = [trial for trial in kept.trials if trial.number > (after or 0)]
        page = rest[:limit]
        key = str(page[-1].number) if len(rest) > limit else None
        return TrialPage(self._all_told(kept, page), key)

    def optimal(self, name: StudyName) -> tuple[MeasuredTrial, ...]:
        """Returns the Pareto-optimal trials among those that have succeeded."""
        kept = self.store.find(name)
        best = pareto_optimal([t.trial() for t in kept.trials], kept.study.config.metrics)
        return self._all_told(kept, [find(kept, trial.number) for trial in best])

    def measure(self, name: StudyName, number: int, measurement: Measurement) -> MeasuredTrial:
        """Adds a measurement; a repeated one counts once.

        Raises:
            FailedPrecondition: the trial has ended.
            InvalidArgument: the study doesn't have such a metric.
        """
        kept = self.store.find(name)
        trial = find(kept, number)
        check_metrics(measurement, metric_ids(kept.study.request), "measurement")
        transitions.refuse_ended(trial)
        now = self.clock.now()
        report = report_of(timed(measurement, trial, now), now)
        self.store.report(kept.study.uid, number, [report])
        return self._told(kept, trial)

    def complete(self, name: StudyName, number: int, outcome: Outcome) -> MeasuredTrial:
        """Completes a trial.

        Raises FailedPrecondition: the trial has ended before, or has nothing to judge it by.
        """

        def decide(kept: StudyWithTrials) -> Change:
            trial = find(kept, number)
            _check_final(kept.study, outcome.final)
            measurements = (*trial.measurements, *self._curve(kept, number))
            return transitions.complete(kept.study, trial, outcome, measurements, self.clock.now())

        change(self.store, name, decide)
        kept = self.store.find(name)
        self.prepare(kept)
        return self._told(kept, find(kept, number))

    def stop(self, name: StudyName, number: int) -> MeasuredTrial:
        """Asks the trial's client to stop; an ended trial is unchanged."""
        why = transitions.ASKED_TO_STOP
        change(self.store, name, lambda kept: transitions.stop(kept.study, find(kept, number), why))
        return self.get(name, number)

    def delete(self, name: StudyName, number: int) -> None:
        change(self.store, name, lambda kept: transitions.drop(kept.study, find(kept, number)))

    def _told(self, kept: StudyWithTrials, trial: TrialRecord) -> MeasuredTrial:
        return MeasuredTrial(trial, self._curve(kept, trial.number))

    def _curve(self, kept: StudyWithTrials, number: int) -> tuple[Measurement, ...]:
        return curve(stored.report for stored in self.store.reports(kept.study.uid, number))

    def _all_told(
        self, kept: StudyWithTrials, trials: Iterable[TrialRecord]
    ) -> tuple[MeasuredTrial, ...]:
        return tuple(self._told(kept, trial) for trial in trials)


def find(kept: StudyWithTrials, number: int) -> TrialRecord:
    """Returns the trial with this number. Raises NotFound."""
    trial = next((trial for trial in kept.trials if trial.number == number), None)
    if trial is None:
        raise NotFound(f"{kept.study.name} has no trial {number}")
    return trial


def _check_final(study: StudyRecord, final: Measurement | None) -> None:
    if final is not None:
        check_metrics(final, metric_ids(study.request), "finalMeasurement")
        check_whole(final, study.config.metrics, "finalMeasurement")


def _changed(made: Change | None) -> TrialRecord:
    if made is None:
        raise RuntimeError("the study with the new trial was not stored")
    return made.trials[0]
