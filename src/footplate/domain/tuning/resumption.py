"""Resumes the search of an earlier job. Source: the page on using hyperparameter tuning."""

from __future__ import annotations

from collections.abc import Iterator

from footplate.domain.errors import Violation
from footplate.domain.formatting import quoted
from footplate.domain.hyperparameters import MAX_MODELLED_CATEGORIES
from footplate.domain.studies.metrics import Goal, Metric
from footplate.domain.studies.parameters import CategoricalParameter, DoubleParameter
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import Algorithm, StudyConfig
from footplate.domain.tuning.search import DEFAULT_TAG, Search, SearchRequest


def unsuited(space: SearchSpace, algorithm: Algorithm) -> str:
    """Returns why the algorithm can't search the space; empty: it can."""
    parameters = [slot.parameter for slot in space.slots]
    if algorithm is Algorithm.GRID:
        real = [p.name for p in parameters if isinstance(p, DoubleParameter)]
        return f"allowed only without DOUBLE parameters such as {quoted(real[0])}" if real else ""
    if algorithm is Algorithm.BAYESIAN:
        count = sum(p.count for p in parameters if isinstance(p, CategoricalParameter))
        if count > MAX_MODELLED_CATEGORIES:
            return (
                f"allowed with at most {MAX_MODELLED_CATEGORIES} categorical values; there are "
                f"{count}"
            )
    return ""


AT = "trainingInput.hyperparameters"
"""Only ml v1 can ask for it."""


def search_of(request: SearchRequest, earlier: Search | None = None) -> Search:
    """Returns the requested search; if it resumes ``earlier``, missing fields come from there.

    Raises ValueError: neither has parameters.
    """
    space = request.space or (earlier.study.space if earlier else None)
    if space is None:
        raise ValueError("a search needs parameters")
    config = StudyConfig(
        space=space,
        metrics=request.metrics or (_metric(request, earlier),),
        algorithm=request.algorithm,
        selection=request.selection,
        stopping=request.stopping,
        limits=request.limits,
    )
    return Search(
        config,
        request.counts,
        _text(request.resumes),
        _text(request.learns_from),
        request.regions,
    )


def differences(request: SearchRequest, earlier: Search) -> Iterator[Violation]:
    """Yields the fields in which the request differs from the job that it resumes.

    The algorithm may differ, if it can search this space.
    """
    metric = earlier.study.metrics[0]
    way = (
        "leave the field out to keep the resumed job's value, or start a new search, which can "
        "learn from that job (label footplate-learn-from)"
    )
    if request.goal is not None and request.goal is not metric.goal:
        said = f"{request.goal.name} given; the resumed job has {metric.goal.name}"
        yield Violation(f"{AT}.goal", f"{said}: {way}")
    if request.tag is not None and request.tag != metric.name:
        said = f"{request.tag!r} given; the resumed job has {metric.name!r}"
        yield Violation(f"{AT}.hyperparameterMetricTag", f"{said}: {way}")
    if request.space is not None and request.space != earlier.study.space:
        yield Violation(f"{AT}.params", f"{_differs(request.space, earlier.study.space)}: {way}")
    elif said := unsuited(earlier.study.space, request.algorithm):
        yield Violation(f"{AT}.algorithm", f"{request.algorithm.name} given; {said}")


def _text(name: object) -> str:
    return "" if name is None else str(name)


def _metric(request: SearchRequest, earlier: Search | None) -> Metric:
    before = earlier.study.metrics[0] if earlier else Metric(DEFAULT_TAG, Goal.MAXIMIZE)
    return Metric(request.tag or before.name, request.goal or before.goal)


def _differs(given: SearchSpace, earlier: SearchSpace) -> str:
    """Describes the first difference between two spaces; empty: there is none."""
    new = {parameter.name: parameter for parameter in given.parameters}
    old = {parameter.name: parameter for parameter in earlier.parameters}
    for name in sorted(new.keys() ^ old.keys()):
        where = "only the resumed job has" if name in old else "the resumed job doesn't have"
        return f"{where} the parameter {name!r}"
    for name in new:
        if new[name] != old[name]:
            return f"parameter {name!r} differs from the resumed job's"
    return "the parameters are in another order than in the resumed job"
