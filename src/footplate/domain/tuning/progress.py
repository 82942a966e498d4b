"""Decides how a search continues: more trials, waiting, or its end."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from footplate.domain.cluster_spec import add_evaluator, lacks_evaluator
from footplate.domain.errors import Code
from footplate.domain.formatting import listed, shortened
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, JobSpec
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.search import Search, TrialCounts

MIN_FAILURES = 5
"""Where the service decides, fewer failures than these (but the first trial's) end nothing."""
MOST_FAILURES = 10
"""So many failures, or a quarter of all trials if that is more, end the job in any case."""


UNREPORTED_TRIALS = 5
"""So many trials that ended without a measurement end a search in which none was ever made."""

MOST_AT_ONCE = 200
"""Trials that run or wait, however many the job wants at once: each is a job, and a cluster."""

_MOST_TAGS = 20
_FIRST_FAILED = "A search without a limit of failed trials ends when its first trial fails"
_REMEDY = (
    "Programs report with cloudml-hypertune's report_hyperparameter_tuning_metric, or in "
    "TensorFlow summaries, under exactly the name of the metric"
)


@dataclass(frozen=True)
class Suggest:
    """The decision to start ``count`` more trials."""

    count: int


@dataclass(frozen=True)
class Wait:
    """The decision to wait for trials to end."""


@dataclass(frozen=True)
class End:
    """The decision to end the search; trials that still run are cancelled."""

    ending: Ending


Step = Suggest | Wait | End


def next_step(
    search: Search,
    trials: Sequence[TrialRecord],
    nothing_more: str = "",
    reported: Collection[int] = (),
) -> Step:
    """Decides how the search continues.

    ``nothing_more`` says why no more trials can or should be suggested; empty: they can.
    ``reported`` has the numbers of the trials with measurements; it isn't needed once a trial has
    succeeded. Source of the rules about failures: the page on using hyperparameter tuning of AI
    Platform.
    """
    failure = too_many_failures(search.counts, trials) or none_reported(search, trials, reported)
    if failure:
        return End(Ending(State.FAILED, Code.ABORTED, failure))
    pending = sum(1 for trial in trials if not trial.state.ended)
    left = 0 if nothing_more else search.counts.trials - len(trials)
    if left <= 0:
        return Wait() if pending else End(_ending(search, trials, nothing_more, reported))
    wanted = min(left, search.counts.parallel - pending, MOST_AT_ONCE - pending)
    return Suggest(wanted) if wanted > 0 else Wait()


def explain_end(spec: JobSpec, ending: Ending) -> Ending:
    """Adds advice to the end of a search, if the lack of an evaluator is the likely cause."""
    if _REMEDY not in ending.message or not lacks_evaluator(spec):
        return ending
    remedy = (
        "A program that calls tf.estimator.train_and_evaluate on a cluster reports only beside an "
        f"evaluator: {add_evaluator(spec)}. Others report with "
    )
    message = ending.message.replace(_REMEDY, _REMEDY.replace("Programs report with ", remedy))
    return replace(ending, message=message)


def too_many_failures(counts: TrialCounts, trials: Sequence[TrialRecord]) -> str:
    """Returns why the failures of trials end their job; empty: they don't.

    Cancelled trials don't count as failed.
    """
    failed = [trial for trial in trials if trial.verdict is State.FAILED]
    if not failed:
        return ""
    if counts.failed:
        if len(failed) < counts.failed:
            return ""
        return f"{_number(len(failed))} failed, which is the job's limit; the last: {_told(failed)}"
    crashed = [trial for trial in failed if trial.outcome is State.FAILED]
    return _crashes(counts, trials, crashed)


def none_reported(search: Search, trials: Sequence[TrialRecord], reported: Collection[int]) -> str:
    """Returns why a search ends if no program reports its metric; empty: it continues.

    If the job sets a limit of failed trials, that limit alone decides, as trials without a metric
    have failed.
    """
    if search.counts.failed or reported or _any_succeeded(trials):
        return ""
    failed = [trial for trial in trials if trial.verdict is State.FAILED]
    return _unreported(search, failed) if len(failed) >= UNREPORTED_TRIALS else ""


def why_stopped(ending: Ending) -> str:
    """Returns the reason to record for a trial that is cancelled because its search ends."""
    if ending.state is State.CANCELLED:
        return f"stopped because the tuning job was {ending.message or 'cancelled'}"
    if ending.state is State.SUCCEEDED:
        return "stopped because the search has ended"
    clause = re.split(r"[:;.] ", ending.message, maxsplit=1)[0]
    return f"stopped because {clause}"


def _crashes(
    counts: TrialCounts, trials: Sequence[TrialRecord], crashed: Sequence[TrialRecord]
) -> str:
    first = min(trials, key=lambda trial: trial.number)
    if first in crashed:
        reason = first.infeasible_reason.rstrip(".")
        return f"trial {first.number} failed: {reason}. {_FIRST_FAILED}"
    well = sum(1 for trial in trials if trial.state is TrialState.SUCCEEDED)
    most = max(MOST_FAILURES, counts.trials // 4)
    if len(crashed) >= MIN_FAILURES and len(crashed) > well:
        return f"{_number(len(crashed))} failed, and {well} succeeded; the last: {_told(crashed)}"
    if len(crashed) > most:
        return f"{_number(len(crashed))} failed, more than {most}; the last: {_told(crashed)}"
    return ""


def _ending(
    search: Search, trials: Sequence[TrialRecord], nothing_more: str, reported: Collection[int]
) -> Ending:
    if _any_succeeded(trials):
        return Ending(State.SUCCEEDED)
    if not trials:
        return Ending(State.FAILED, Code.FAILED_PRECONDITION, f"no trial began: {nothing_more}")
    message = _unreported(search, trials)
    if reported:
        of = f"{len(reported)} of {_number(len(trials))}"
        reason = f"{of} reported {_names(search)}, but no trial has a result"
        message = f"{reason}; the last: {_told(trials)}"
    return Ending(State.FAILED, Code.FAILED_PRECONDITION, message)


def _unreported(search: Search, trials: Sequence[TrialRecord]) -> str:
    tags = sorted({tag for trial in trials for tag in trial.tags_seen})
    seen = ", ".join(map(shortened, tags[:_MOST_TAGS])) or "none"
    if len(tags) > _MOST_TAGS:
        seen += f" and {len(tags) - _MOST_TAGS} more"
    message = f"none of {_number(len(trials))} reported the metric {_names(search)}"
    last = max(trials, key=lambda trial: trial.ended_as)
    if last.outcome is not State.SUCCEEDED:
        return f"{message}; the last: {_told(trials)}"
    return f"{message}. Tags seen: {seen}. {_REMEDY}"


def _any_succeeded(trials: Sequence[TrialRecord]) -> bool:
    return any(trial.state is TrialState.SUCCEEDED for trial in trials)


def _names(search: Search) -> str:
    return listed([metric.name for metric in search.study.metrics])


def _number(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"


def _told(ended: Sequence[TrialRecord]) -> str:
    last = max(ended, key=lambda trial: trial.ended_as)
    return f"trial {last.number}: {shortened(last.infeasible_reason)}"
