"""A stored study as the tuner sees it, now or at an earlier time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from footplate.domain.studies.records import StudyRecord, SuggestionRecord, TrialRecord
from footplate.domain.studies.study import Study
from footplate.domain.studies.trials import Trial, TrialState


def study_of(study: StudyRecord, trials: Sequence[TrialRecord]) -> Study:
    """Returns the study with all its trials."""
    return Study(study.config, tuple(trial.trial() for trial in trials), study.earlier)


def first_ended(study: StudyRecord, trials: Sequence[TrialRecord], count: int) -> Study:
    """Returns the study with only the first ``count`` trials in the order of their ends."""
    ended = (trial for trial in trials if 0 < trial.ended_as <= count)
    return study_of(study, tuple(ended))


def as_seen(
    study: StudyRecord, trials: Sequence[TrialRecord], suggestion: SuggestionRecord
) -> Study:
    """Returns the study as the suggestion saw it: later ends are pending, or missing."""
    seen = first_ended(study, trials, suggestion.finished).trials
    pending = tuple(_pending(t) for t in trials if t.number in suggestion.pending)
    ordered = sorted((*seen, *pending), key=lambda trial: trial.number)
    return Study(study.config, tuple(ordered), study.earlier)


def _pending(trial: TrialRecord) -> Trial:
    before = replace(trial, state=TrialState.ACTIVE, final=None, machine_s=0.0, stop_reason="")
    return before.trial()
