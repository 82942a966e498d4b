"""Converts the search of an ml v1 tuning job."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from footplate.domain.names import StudyName, TrainingJobName
from footplate.domain.studies.metrics import Goal, Selection
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import HalvingSpec
from footplate.domain.studies.study import Algorithm
from footplate.domain.tuning.search import DEFAULT_TAG, SearchRequest, TrialCounts
from footplate.wire.learn_from_label import learned_from
from footplate.wire.training_v1 import enums
from footplate.wire.training_v1.enums import GoalType, ParameterType, ScaleType
from footplate.wire.trial_regions_label import trial_regions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.names import JobName
    from footplate.domain.studies.parameters import Parameter
    from footplate.wire.training_v1.models import HyperparameterSpec, ParameterSpec

_SCALES = MappingProxyType(
    {
        ScaleType.NONE: Scale.NONE,
        ScaleType.UNIT_LINEAR_SCALE: Scale.LINEAR,
        ScaleType.UNIT_LOG_SCALE: Scale.LOG,
        ScaleType.UNIT_REVERSE_LOG_SCALE: Scale.REVERSE_LOG,
    }
)
_GOALS = MappingProxyType({GoalType.MAXIMIZE: Goal.MAXIMIZE, GoalType.MINIMIZE: Goal.MINIMIZE})
_ALGORITHMS = MappingProxyType(
    {
        enums.Algorithm.ALGORITHM_UNSPECIFIED: Algorithm.BAYESIAN,
        enums.Algorithm.GRID_SEARCH: Algorithm.GRID,
        enums.Algorithm.RANDOM_SEARCH: Algorithm.RANDOM,
    }
)


def search_request(
    search: HyperparameterSpec,
    name: TrainingJobName,
    labels: Mapping[str, str] | None,
    region: str,
) -> SearchRequest:
    """Makes the search of a valid request, in which the last measurement of a trial counts.

    If the job resumes another one, missing fields stay None, and come from the resumed job.
    """
    resumed, learned = search.resume_previous_job_id, learned_from(labels)
    goal = _GOALS.get(search.goal or GoalType.GOAL_TYPE_UNSPECIFIED)
    return SearchRequest(
        counts=_counts(search),
        space=_space(search),
        tag=search.hyperparameter_metric_tag or (None if resumed else DEFAULT_TAG),
        goal=goal or (None if resumed else Goal.MAXIMIZE),
        algorithm=_ALGORITHMS[search.algorithm or enums.Algorithm.ALGORITHM_UNSPECIFIED],
        selection=Selection.LAST,
        stopping=HalvingSpec() if search.enable_trial_early_stopping else None,
        resumes=TrainingJobName(name.project, resumed) if resumed else None,
        learns_from=_earlier(learned, name.project, region) if learned else None,
        regions=trial_regions(labels),
    )


def _earlier(given: str, project: str, region: str) -> JobName | StudyName:
    """Returns the name of a job, whose id begins with a letter, or of a study, with a digit."""
    if given[0].isdigit():
        return StudyName(project, region, given)
    return TrainingJobName(project, given)


def _counts(search: HyperparameterSpec) -> TrialCounts:
    """Returns the numbers of trials; 0 or absent means the default."""
    return TrialCounts(
        trials=search.max_trials or 1,
        parallel=search.max_parallel_trials or 1,
        failed=search.max_failed_trials or 0,
    )


def _space(search: HyperparameterSpec) -> SearchSpace | None:
    if not search.params:
        return None
    return SearchSpace(tuple(_parameter(parameter) for parameter in search.params))


def _parameter(given: ParameterSpec) -> Parameter:
    """Makes a parameter; an absent bound is 0, and repeated categories count once."""
    name, scale = given.parameter_name or "", _SCALES[given.scale_type or ScaleType.NONE]
    low, high = given.min_value or 0.0, given.max_value or 0.0
    if given.type is ParameterType.DOUBLE:
        return DoubleParameter(name, low, high, scale)
    if given.type is ParameterType.INTEGER:
        return IntegerParameter(name, int(low), int(high), scale)
    if given.type is ParameterType.DISCRETE:
        return DiscreteParameter(name, tuple(given.discrete_values or ()), scale)
    return CategoricalParameter(name, tuple(dict.fromkeys(given.categorical_values or ())))
