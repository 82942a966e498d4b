"""Suggests points for new trials, and stores each with its explanation first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from footplate.control.job_updates import TRIES
from footplate.control.suggestions import tuner_loader
from footplate.domain.errors import Aborted, NotFound
from footplate.domain.studies.records import PredictionRecord, SuggestionRecord, TrialRecord
from footplate.domain.studies.space import key
from footplate.domain.studies.study_history import as_seen, study_of
from footplate.domain.studies.trials import TrialState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.control.suggestions.model_fitting import Models
    from footplate.domain.names import StudyUid
    from footplate.domain.studies.space import Point
    from footplate.ports.clock import Clock
    from footplate.ports.studies import StudyStore, StudyWithTrials
    from footplate.tuning.bayesian.model import Model
    from footplate.tuning.designer import Explanation, Suggestion


@dataclass(frozen=True)
class PendingSuggestions:
    """Suggestions that aren't stored yet.

    A busy study's trials report faster than suggestions are made. Such reports don't invalidate the
    suggestions, as their records say which results they are based on.
    """

    after: int
    """The number of the last trial that there was."""
    trials: tuple[TrialRecord, ...]
    exhausted: str
    """Why there are fewer than were asked for, as a sentence; else empty."""
    models: Mapping[int, Mapping[str, object]]
    """The models by their counts: to be kept with the trials."""

    def holds(self, trials: Sequence[TrialRecord]) -> bool:
        """Returns whether no newer trial was suggested by others, or has one of these points."""
        newer = [trial for trial in trials if trial.number > self.after]
        points = {key(trial.point) for trial in self.trials}
        return all(trial.suggestion is None and key(trial.point) not in points for trial in newer)

    def numbered(self, last: int) -> tuple[TrialRecord, ...]:
        """Returns the trials, numbered from ``last`` + 1."""
        return tuple(self._moved(trial, last - self.after) for trial in self.trials)

    def _moved(self, trial: TrialRecord, by: int) -> TrialRecord:
        suggestion = trial.suggestion
        if suggestion is not None:
            pending = tuple(n + by if n > self.after else n for n in suggestion.pending)
            suggestion = replace(suggestion, pending=pending)
        return replace(trial, number=trial.number + by, suggestion=suggestion)


@dataclass(frozen=True)
class Suggested:
    """The new trials; ``exhausted`` says why there are fewer than asked for, else it is empty."""

    trials: tuple[TrialRecord, ...]
    exhausted: str = ""


class Suggester:
    def __init__(self, studies: StudyStore, models: Models, clock: Clock) -> None:
        self._studies = studies
        self._models = models
        self._clock = clock

    def suggest(
        self,
        uid: StudyUid,
        count: int,
        client_id: str = "",
        at: TrialState = TrialState.ACTIVE,
    ) -> Suggested:
        """Creates and stores ``count`` new trials of a study, fewer if too few points are left.

        Raises:
            NotFound: the study doesn't exist.
            Aborted: others kept writing the study; nothing was created.
        """
        offer: PendingSuggestions | None = None
        for _ in range(TRIES):
            kept = self._studies.load(uid)
            if offer is None or not offer.holds(kept.trials):
                offer = self._make(kept, count, client_id, at)
            made = offer.numbered(kept.study.made)
            if not made:
                return Suggested((), offer.exhausted)
            study = kept.study
            after = replace(study, made=made[-1].number, version=study.version + 1)
            try:
                self._studies.write(after, made, offer.models)
            except Aborted:
                continue
            return Suggested(made, offer.exhausted)
        raise Aborted(f"other requests keep changing study {uid}; try again")

    def replay(self, uid: StudyUid, number: int) -> Point:
        """Computes the suggestion of a trial again, from the same data.

        Raises NotFound: there is no such trial, or its point wasn't suggested.
        """
        kept = self._studies.load(uid)
        trial = next((trial for trial in kept.trials if trial.number == number), None)
        if trial is None or trial.suggestion is None:
            raise NotFound(f"study {uid} has no suggested trial {number}")
        record = trial.suggestion
        model = None if record.model is None else self._models.at(kept, record.model)
        study = as_seen(kept.study, kept.trials, record)
        batch = tuner_loader.load().suggest(study, 1, record.seed, model)
        return batch.suggestions[0].point

    def _make(
        self, kept: StudyWithTrials, count: int, client_id: str, at: TrialState
    ) -> PendingSuggestions:
        fitted, model = self._models.wanted(kept)
        study, now = kept.study, self._clock.now()
        batch = tuner_loader.load().suggest(study_of(study, kept.trials), count, study.seed, model)
        pending = [trial.number for trial in kept.trials if not trial.state.ended]
        made: list[TrialRecord] = []
        for number, suggestion in enumerate(batch.suggestions, study.made + 1):
            made.append(
                TrialRecord(
                    number=number,
                    point=dict(suggestion.point),
                    create_time=now,
                    state=at,
                    start_time=now if at is TrialState.ACTIVE else None,
                    client_id=client_id,
                    suggestion=_record(kept, suggestion, tuple(pending), fitted, model),
                )
            )
            pending.append(number)
        models = {} if model is None else {fitted: model.to_record()}
        return PendingSuggestions(study.made, tuple(made), batch.exhausted, models)


def _record(
    kept: StudyWithTrials,
    suggestion: Suggestion,
    pending: tuple[int, ...],
    fitted: int,
    model: Model | None,
) -> SuggestionRecord:
    why: Explanation = suggestion.why
    return SuggestionRecord(
        reason=why.reason.value,
        sentence=why.sentence,
        finished=kept.study.ended,
        pending=pending,
        model=None if model is None else fitted,
        seed=kept.study.seed,
        version=tuner_loader.load().version(),
        predictions=tuple(
            PredictionRecord(p.metric, p.value, p.low, p.high) for p in why.predictions
        ),
        distance=why.distance,
    )
