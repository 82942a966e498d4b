"""How a search goes on: more trials, waiting, or its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.errors import Code
from footplate.domain.jobs import Ending
from footplate.domain.states import State
from footplate.domain.studies.trials import TrialState
from footplate.domain.words import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.searches.search import Search, TrialCounts
    from footplate.domain.studies.records import TrialRecord

LEAST_FAILURES = 5
"""Where the service decides, fewer failures than these (but the first trial's) end nothing."""
MOST_FAILURES = 10
"""So many failures, or a quarter of all trials if that is more, end the job in any case."""


MOST_AT_ONCE = 200
"""Trials that run or wait, however many the job wants at once: each is a job, and a cluster."""


_WAY_OUT = (
    "Programs report with cloudml-hypertune's report_hyperparameter_tuning_metric, or in "
    "TensorFlow summaries, under the metric's very name"
)


@dataclass(frozen=True)
class Suggest:
    """So many more trials are to begin."""

    count: int


@dataclass(frozen=True)
class Wait:
    """For trials to end."""


@dataclass(frozen=True)
class End:
    """Trials that still run are cancelled."""

    ending: Ending


Step = Suggest | Wait | End


def next_step(search: Search, trials: Sequence[TrialRecord], nothing_more: str = "") -> Step:
    """``nothing_more``: why nothing more can be suggested, or should be; empty: it can.

    Source of the rules about failures: the page on using hyperparameter tuning of AI Platform.
    """
    failure = too_many_failures(search.counts, trials)
    if failure:
        return End(Ending(State.FAILED, Code.ABORTED, failure))
    pending = sum(1 for trial in trials if not trial.state.ended)
    left = 0 if nothing_more else search.counts.trials - len(trials)
    if left <= 0:
        return Wait() if pending else End(_ending(search, trials, nothing_more))
    wanted = min(left, search.counts.parallel - pending, MOST_AT_ONCE - pending)
    return Suggest(wanted) if wanted > 0 else Wait()


def too_many_failures(counts: TrialCounts, trials: Sequence[TrialRecord]) -> str:
    """Why the failures of trials end their job; empty: they don't.

    Trials that somebody cancelled have not failed.
    """
    failed = [trial for trial in trials if trial.verdict is State.FAILED]
    if not failed:
        return ""
    if counts.failed:
        if len(failed) < counts.failed:
            return ""
        return f"{_number(len(failed))} failed, as many as may; the last: {_told(failed)}"
    crashed = [trial for trial in failed if trial.outcome is State.FAILED]
    return _crashes(counts, trials, crashed)


def _crashes(
    counts: TrialCounts, trials: Sequence[TrialRecord], crashed: Sequence[TrialRecord]
) -> str:
    if any(trial.number == 1 for trial in crashed):
        return f"the first trial failed, so the others would: {crashed[0].infeasible_reason}"
    well = sum(1 for trial in trials if trial.state is TrialState.SUCCEEDED)
    most = max(MOST_FAILURES, counts.trials // 4)
    if len(crashed) >= LEAST_FAILURES and len(crashed) > well:
        return f"{_number(len(crashed))} failed, and {well} succeeded; the last: {_told(crashed)}"
    if len(crashed) > most:
        return f"{_number(len(crashed))} failed, more than {most}; the last: {_told(crashed)}"
    return ""


def _ending(search: Search, trials: Sequence[TrialRecord], nothing_more: str) -> Ending:
    if any(trial.state is TrialState.SUCCEEDED for trial in trials):
        return Ending(State.SUCCEEDED)
    if not trials:
        return Ending(State.FAILED, Code.FAILED_PRECONDITION, f"no trial began: {nothing_more}")
    names = ", ".join(metric.name for metric in search.study.metrics)
    last = max(trials, key=lambda trial: trial.ended_as)
    message = f"no trial reported {names}; trial {last.number}: {last.infeasible_reason}"
    if last.outcome is State.SUCCEEDED and last.final is None:
        message += f". {_WAY_OUT}"
    return Ending(State.FAILED, Code.FAILED_PRECONDITION, message)


def _number(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"


def _told(failed: Sequence[TrialRecord]) -> str:
    last = max(failed, key=lambda trial: trial.ended_as)
    return f"trial {last.number}: {shortened(last.infeasible_reason)}"
