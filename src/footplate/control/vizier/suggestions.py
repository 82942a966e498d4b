"""Suggests trials to clients."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.control.job_locks import JobLocks
from footplate.control.suggestions import Suggester
from footplate.control.vizier.study_updates import change
from footplate.domain.names import JobUid, StudyName
from footplate.domain.studies import transitions
from footplate.domain.studies.limit_checks import over, trials_left
from footplate.domain.studies.records import StudyState, TrialRecord
from footplate.domain.studies.transitions import Change
from footplate.domain.studies.trials import TrialState
from footplate.ports.clock import Clock
from footplate.ports.studies import StudyStore, StudyWithTrials


@dataclass(frozen=True)
class Suggestions:
    """The suggested trials; ``state``, the study's, may explain why there are few."""

    trials: tuple[TrialRecord, ...]
    state: StudyState


class Suggesting:
    def __init__(self, store: StudyStore, suggester: Suggester, clock: Clock) -> None:
        self._store = store
        self._suggester = suggester
        self._clock = clock
        self._job_locks = JobLocks()

    def suggest(self, name: StudyName, count: int, client_id: str) -> Suggestions:
        """Returns ``count`` trials for a client; fewer if the study has ended.

        A client first gets the trials that it already works on, then trials that users added and
        nobody works on, then new ones. Its trials survive its crash, and asking again returns the
        same ones.

        Raises NotFound, Aborted.
        """
        uid = self._store.find(name).study.uid
        with self._job_locks.of(
            JobUid(uid)
        ):  # or one client that asks twice at once gets twice as many
            found = self._at_work(self._store.find(name), client_id)[:count]
            found += self._waiting(name, count - len(found), client_id)
            found += self._new(name, count - len(found), client_id)
        ordered = sorted(found, key=lambda trial: trial.number)
        return Suggestions(tuple(ordered), self._store.find(name).study.state)

    def _at_work(self, kept: StudyWithTrials, client_id: str) -> list[TrialRecord]:
        return [
            trial
            for trial in kept.trials
            if trial.state is TrialState.ACTIVE and trial.client_id == client_id
        ]

    def _waiting(self, name: StudyName, count: int, client_id: str) -> list[TrialRecord]:
        def decide(kept: StudyWithTrials) -> Change | None:
            requested = [t for t in kept.trials if t.state is TrialState.REQUESTED][:count]
            if not requested or kept.study.state is not StudyState.ACTIVE:
                return None
            return transitions.hand_out(kept.study, requested, client_id, self._clock.now())

        changed = change(self._store, name, decide) if count else None
        return [] if changed is None else list(changed.trials)

    def _new(self, name: StudyName, count: int, client_id: str) -> list[TrialRecord]:
        if not count:
            return []
        change(self._store, name, self._end_if_over)
        kept = self._store.find(name)
        if kept.study.state is not StudyState.ACTIVE:
            return []
        left = trials_left(kept.study.config.limits, len(kept.trials))
        wanted = count if left is None else min(count, left)
        suggested = self._suggester.suggest(kept.study.uid, wanted, client_id, TrialState.ACTIVE)
        if suggested.exhausted:
            why = suggested.exhausted
            change(
                self._store, name, lambda k: transitions.halt(k.study, StudyState.COMPLETED, why)
            )
        return list(suggested.trials)

    def _end_if_over(self, kept: StudyWithTrials) -> Change | None:
        study, limits = kept.study, kept.study.config.limits
        if limits is None:
            return None
        now = self._clock.now()
        why = over(limits, kept.trials, study.config.metrics, study.create_time, now)
        return transitions.halt(study, StudyState.INACTIVE, why) if why else None
