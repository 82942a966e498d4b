"""Replays a search that has run: which trials would another stopping rule have stopped? Pure.

Trials start and report when they did. What a rule frees is not used for more trials, and what was
stopped early in truth has no more of its curve than that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from footplate.domain.studies.stopping import PastTrial, ReplayedStop
from footplate.domain.studies.study import StudyConfig
from footplate.domain.studies.trials import Trial, TrialState
from footplate.tuning.stopping.rule import stopping_rule

MAX_JUDGEMENTS = 600
"""A judgement takes milliseconds: of longer curves some points are judged, evenly chosen."""


@dataclass(frozen=True)
class _Moment:
    """The moment at which trial ``index`` reports its measurement ``position``."""

    time_s: float
    index: int
    position: int


def replay(config: StudyConfig, past: Sequence[PastTrial]) -> tuple[ReplayedStop, ...]:
    """Returns the trials that the rule of ``config`` would have stopped, in the order of the stops.

    Raises ValueError: there are several metrics.
    """
    rule = stopping_rule(config)
    stops: dict[int, float] = {}
    found: list[ReplayedStop] = []
    for moment in () if rule is None else _moments(past):
        if moment.index in stops or rule is None:
            continue
        own = past[moment.index]
        others = list(_seen(past, moment, stops))
        shown = own.trial.measurements[: moment.position + 1]
        trial = replace(own.trial, state=TrialState.ACTIVE, measurements=shown, final=None)
        if reason := rule.reason_to_stop(replace(trial, stopped_early=False), others):
            stops[moment.index] = moment.time_s
            found.append(ReplayedStop(trial.number, shown[-1].step, reason, _saved(own, moment)))
    return tuple(found)


def _moments(past: Sequence[PastTrial]) -> list[_Moment]:
    """Returns moments by time, without a trial's last report: a stop there would save nothing."""
    each = max(1, MAX_JUDGEMENTS // max(1, len(past)))
    return sorted(
        (
            _Moment(one.start_s + one.trial.measurements[at].elapsed_s, index, at)
            for index, one in enumerate(past)
            for at in _chosen(len(one.trial.measurements) - 1, each)
        ),
        key=lambda moment: (moment.time_s, moment.index, moment.position),
    )


def _chosen(count: int, most: int) -> Sequence[int]:
    """Chooses up to ``most`` numbers from ``range(count)``, evenly."""
    if count <= most:
        return range(max(0, count))
    return sorted({round(at * count / most) for at in range(most)})


def _seen(
    past: Sequence[PastTrial], moment: _Moment, stops: Mapping[int, float]
) -> Iterator[Trial]:
    """Yields all other trials in their state at the moment."""
    for index, one in enumerate(past):
        if index == moment.index or one.start_s > moment.time_s:
            continue
        until = min(moment.time_s, stops.get(index, moment.time_s))
        shown = tuple(m for m in one.trial.measurements if one.start_s + m.elapsed_s <= until)
        if index in stops:
            yield replace(one.trial, measurements=shown, stopped_early=True)
        elif one.end_s <= moment.time_s:
            yield replace(one.trial, measurements=shown)
        else:
            yield replace(one.trial, state=TrialState.ACTIVE, measurements=shown, final=None)


def _saved(one: PastTrial, moment: _Moment) -> float:
    """Returns the machine time that the trial used after the stop."""
    whole = max(one.end_s - one.start_s, 1e-9)
    return one.trial.machine_s * min(1.0, max(0.0, (one.end_s - moment.time_s) / whole))
