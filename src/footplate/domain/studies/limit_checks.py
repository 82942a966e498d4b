"""Checks a study's limits. Source: StudyStoppingConfig of aiplatform v1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.study import StudyLimits


def over(
    limits: StudyLimits,
    trials: Sequence[TrialRecord],
    metrics: Sequence[Metric],
    created: datetime,
    now: datetime,
) -> str:
    """Returns why the study suggests no more trials; empty: it continues.

    ``trials`` are all trials of the study. Limits of progress apply only with one metric: progress
    isn't defined for several.
    """
    ended = sorted((t for t in trials if t.state.ended), key=lambda t: t.ended_as)
    if _is_early(limits, len(ended), now, created):
        return ""
    reasons = [
        *_time_is_up(limits, created, now),
        *_has_all_trials(limits, len(trials)),
        *(_is_stuck(limits, trials, ended, metrics[0], now) if len(metrics) == 1 else ()),
    ]
    return reasons[0] if reasons else ""


def trials_left(limits: StudyLimits | None, made: int) -> int | None:
    """Returns how many more trials than ``made`` there may be; None: no limit is given."""
    if limits is None or not limits.max_trials:
        return None
    return max(0, limits.max_trials - made)


def _is_early(limits: StudyLimits, ended: int, now: datetime, created: datetime) -> bool:
    if limits.min_duration_s is not None and not _passed(created, limits.min_duration_s, now):
        return True
    if limits.min_end is not None and now < limits.min_end:
        return True
    return limits.min_trials is not None and ended < limits.min_trials


def _time_is_up(limits: StudyLimits, created: datetime, now: datetime) -> Iterator[str]:
    longest, end = limits.max_duration_s, limits.max_end
    if longest is not None and _passed(created, longest, now):
        yield f"the study has reached its longest duration of {longest:g} s"
    if end is not None and now >= end:
        yield f"the study had to end at {end:%Y-%m-%d %H:%M:%S} UTC"


def _has_all_trials(limits: StudyLimits, made: int) -> Iterator[str]:
    if limits.max_trials and made >= limits.max_trials:
        yield f"the study has all of its {limits.max_trials} trials"


def _is_stuck(
    limits: StudyLimits,
    trials: Sequence[TrialRecord],
    ended: Sequence[TrialRecord],
    metric: Metric,
    now: datetime,
) -> Iterator[str]:
    """Yields why the study makes no progress; ``ended`` is in the order of the trials' ends."""
    best = _last_improvement(ended, metric)
    since = len(ended) - 1 - best if best is not None else len(ended)
    most, longest = limits.max_trials_no_progress, limits.max_duration_no_progress_s
    if most and since >= most:
        yield f"the last {since} trials brought no better result"
    begun = ended[best].end_time if best is not None else _first_start(trials)
    if longest is not None and begun is not None and _passed(begun, longest, now):
        yield f"no trial has brought a better result for {longest:g} s"


def _last_improvement(ended: Sequence[TrialRecord], metric: Metric) -> int | None:
    """Returns the index of the last trial that beats all before it; None: none has a value."""
    best: tuple[float, int] | None = None
    for place, trial in enumerate(ended):
        value = trial.trial().value(metric)
        if value is not None and (best is None or metric.is_better(value, best[0])):
            best = value, place
    return best[1] if best is not None else None


def _first_start(trials: Sequence[TrialRecord]) -> datetime | None:
    return min((t.start_time for t in trials if t.start_time is not None), default=None)


def _passed(since: datetime, duration_s: float, now: datetime) -> bool:
    """Returns whether a duration has passed; compares seconds, as it may reach beyond any date."""
    return (now - since) / timedelta(seconds=1) >= duration_s
