"""Events of a tuning job about its trials. Each has a key, so that it is stored once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from types import MappingProxyType

from footplate.domain.cluster_spec import add_evaluator, lacks_evaluator
from footplate.domain.formatting import shortened
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import TrainingJobName
from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.records import StudyRecord, TrialRecord
from footplate.domain.studies.space import SearchSpace
from footplate.domain.tuning.prior_trials import describe_prior, prior_trials
from footplate.domain.tuning.search import Search
from footplate.domain.tuning.trial_spec import flags

_MOST_TOLD = 50
"""Parameters of a trial that its event names."""
_KINDS = MappingProxyType({State.SUCCEEDED: "TRIAL_ENDED", State.CANCELLED: "TRIAL_CANCELLED"})


def made_event(trial: TrialRecord, space: SearchSpace) -> JobEvent:
    point = _told(flags(space, trial.point))
    why = f" ({trial.suggestion.sentence})" if trial.suggestion else ""
    message = f"trial {trial.number}: {point}{why}"
    return JobEvent(trial.create_time, "TRIAL", message, key=f"trial/{trial.number}/made")


def prior_event(search: Search, study: StudyRecord, now: datetime) -> JobEvent | None:
    """Returns an event on what the search learns from; None if it learns from nothing."""
    prior = prior_trials(search, study.earlier)
    if prior is None:
        return None
    said = describe_prior(prior, search)
    if study.made:
        said += f"; the trials of this search are numbered from {study.made + 1} on"
    return JobEvent(now, "EARLIER_TRIALS", said, key="earlier-trials")


def _told(given: Sequence[str]) -> str:
    """Shortens a list of arguments, which may be long and many."""
    shown = " ".join(shortened(flag.removeprefix("--")) for flag in given[:_MOST_TOLD])
    more = len(given) - _MOST_TOLD
    return f"{shown} and {more} more" if more > 0 else shown


def stopping_event(trial: TrialRecord, now: datetime) -> JobEvent:
    message = f"trial {trial.number} stops early: {trial.stop_reason}"
    return JobEvent(now, "TRIAL_STOPPED", message, key=f"trial/{trial.number}/stopped")


def ended_events(
    trial: TrialRecord, metrics: Sequence[Metric], now: datetime
) -> tuple[JobEvent, ...]:
    kind = _KINDS.get(trial.verdict or State.FAILED, "TRIAL_FAILED")
    message = f"trial {trial.number}: {_result(trial, metrics)}"
    return (JobEvent(now, kind, message, key=f"trial/{trial.number}/ended"),)


def hint(job: Job, metrics: Sequence[Metric], trial: TrialRecord, now: datetime) -> JobEvent:
    """Returns an event with advice on the first trial that reported nothing; once for a job."""
    name = metrics[0].name
    field = "studySpec.metrics[0].metricId"
    if isinstance(job.name, TrainingJobName):
        field = "trainingInput.hyperparameters.hyperparameterMetricTag"
    seen = f"set {field} to one of the tags seen, or " if trial.tags_seen else ""
    if lacks_evaluator(job.spec):
        seen += (
            "if the program calls tf.estimator.train_and_evaluate, which beside workers evaluates "
            f"only in an evaluator, {add_evaluator(job.spec)}, or "
        )
    message = (
        f"trial {trial.number} ran to its end without reporting {name!r}: {seen}have the program "
        f"report it: tf.summary.scalar({name!r}, value, step) in TensorFlow, cloudml-hypertune's "
        f"report_hyperparameter_tuning_metric(hyperparameter_metric_tag={name!r}, ...) elsewhere"
    )
    return JobEvent(now, "HINT", message, key="unmeasured")


def outdated_event(trial: TrialRecord, step: int, now: datetime) -> JobEvent:
    """Returns a warning that a trial's evaluator ended before it evaluated the last checkpoint."""
    of = 0 if trial.final is None else trial.final.step
    message = (
        f"trial {trial.number} reported its metric at step {of}, but its model is of step {step}: "
        "its evaluator ended before the last evaluation. Set a shorter throttle_secs "
        "in EvalSpec, or a longer evaluator_limit_s"
    )
    return JobEvent(now, "WARNING", message, key=f"trial/{trial.number}/outdated")


def unseen_event(trial: TrialRecord, now: datetime) -> JobEvent:
    """Returns a warning that a metric is only in event files; once for a job."""
    message = (
        f"trial {trial.number} reported its metric only in event files. Google's service "
        "reads these only for TensorFlow on a runtime version of AI Platform. For other "
        "programs it sees no metric: report with cloudml-hypertune"
    )
    return JobEvent(now, "WARNING", message, key="unseen-there")


def _result(trial: TrialRecord, metrics: Sequence[Metric]) -> str:
    if trial.verdict is not State.SUCCEEDED or trial.final is None:
        return trial.infeasible_reason
    values = ", ".join(f"{m.name} = {trial.final.values[m.name]:.6g}" for m in metrics)
    early = ", stopped early" if trial.stopped_early else ""
    return f"{values} at step {trial.final.step}{early}"
