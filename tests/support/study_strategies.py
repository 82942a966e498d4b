"""Hypothesis strategies for studies, their trials, and what trials report."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from hypothesis import strategies as st

from footplate.domain.job_states import State
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies.metrics import Goal, Measurement, Metric, Selection
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    CountableParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Scale,
)
from footplate.domain.studies.records import (
    PredictionRecord,
    Report,
    StudyRecord,
    StudyState,
    SuggestionRecord,
    TrialRecord,
)
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import (
    ConvexSpec,
    DecayCurveSpec,
    HalvingSpec,
    MedianSpec,
)
from footplate.domain.studies.study import Algorithm, Noise, Study, StudyConfig, StudyLimits
from footplate.domain.studies.trials import Trial, TrialState
from footplate.domain.tuning.search import Search, TrialCounts
from tests.support.plain_strategies import (
    any_text,
    counts,
    seconds,
    segments,
    text_tuples,
    texts,
    times,
)

numbers = st.floats().map(lambda number: number + 0.0)
"""Also nan and infinities; of the two zeros, which are equal, only one."""

_scales = st.sampled_from(Scale)


@st.composite
def _doubles(draw: st.DrawFn) -> DoubleParameter:
    scale = draw(_scales)
    bounds = st.floats(1e-9 if scale.logarithmic else -1e300, 1e300)
    low, high = sorted(draw(st.tuples(bounds, bounds)))
    return DoubleParameter("", low, high, scale, draw(st.sampled_from([None, low, high])))


@st.composite
def _integers(draw: st.DrawFn) -> IntegerParameter:
    scale = draw(_scales)
    bounds = st.integers(1 if scale.logarithmic else -(2**63), 2**63)
    low, high = sorted(draw(st.tuples(bounds, bounds)))
    return IntegerParameter("", low, high, scale, draw(st.sampled_from([None, low, high])))


@st.composite
def _discretes(draw: st.DrawFn) -> DiscreteParameter:
    scale = draw(_scales)
    values = st.floats(1e-9 if scale.logarithmic else -1e300, 1e300) | st.integers(1, 9)
    chosen = tuple(sorted(draw(st.sets(values, min_size=1, max_size=4))))
    return DiscreteParameter("", chosen, scale, draw(st.sampled_from([None, *chosen])))


@st.composite
def _categoricals(draw: st.DrawFn) -> CategoricalParameter:
    values = tuple(draw(st.lists(any_text, min_size=1, max_size=4, unique=True)))
    return CategoricalParameter("", values, draw(st.sampled_from([None, *values])))


@st.composite
def _parameters(draw: st.DrawFn, depth: int, numbered: count[int]) -> Parameter:
    """Names begin with different numbers: so all are different."""
    name = f"{next(numbered)}.{draw(any_text)}"
    leaf = draw(_doubles() | _integers() | _discretes() | _categoricals())
    if isinstance(leaf, DoubleParameter):
        return replace(leaf, name=name)
    below = draw(st.integers(0, 2)) if depth else 0
    branches = [draw(_branches(leaf, depth - 1, numbered)) for _ in range(below)]
    return replace(leaf, name=name, branches=tuple(branches))


@st.composite
def _branches(
    draw: st.DrawFn, parent: CountableParameter, depth: int, numbered: count[int]
) -> Branch:
    places = st.sets(st.integers(0, min(parent.count, 9) - 1), min_size=1, max_size=3)
    values = tuple(parent.value_at(place) for place in sorted(draw(places)))
    return Branch(values, draw(_parameters(depth, numbered)))


@st.composite
def spaces(draw: st.DrawFn) -> SearchSpace:
    """All kinds of parameters, scales and defaults, with branches in branches."""
    numbered = count()
    size = draw(st.integers(1, 3))
    return SearchSpace(tuple(draw(_parameters(2, numbered)) for _ in range(size)))


stoppings = st.one_of(
    st.builds(HalvingSpec, counts, seconds, st.booleans()),
    st.builds(MedianSpec, st.booleans()),
    st.builds(DecayCurveSpec, st.booleans()),
    st.builds(
        ConvexSpec,
        st.none() | counts,
        st.none() | counts,
        counts,
        any_text,
        st.booleans(),
        st.booleans(),
    ),
)
limits = st.builds(
    StudyLimits,
    stop_asap=st.booleans(),
    min_trials=st.none() | counts,
    max_trials=st.none() | counts,
    max_trials_no_progress=st.none() | counts,
    max_duration_no_progress_s=st.none() | seconds,
    min_duration_s=st.none() | seconds,
    min_end=st.none() | times,
    max_duration_s=st.none() | seconds,
    max_end=st.none() | times,
)
metrics = st.lists(
    st.builds(Metric, any_text, st.sampled_from(Goal)),
    min_size=1,
    max_size=3,
    unique_by=lambda metric: metric.name,
).map(tuple)
configs = st.builds(
    StudyConfig,
    space=spaces(),
    metrics=metrics,
    algorithm=st.sampled_from(Algorithm),
    noise=st.sampled_from(Noise),
    selection=st.sampled_from(Selection),
    stopping=st.none() | stoppings,
    limits=st.none() | limits,
)
searches = st.builds(
    Search, configs, st.builds(TrialCounts, counts, counts, counts), any_text, any_text
)

points = st.dictionaries(
    any_text,
    st.floats(allow_nan=False, allow_infinity=False) | st.integers() | any_text,
    max_size=3,
)
measured = st.dictionaries(any_text, numbers, max_size=3)
measurements = st.builds(Measurement, measured, counts, numbers)
several_measurements = st.lists(measurements, max_size=3).map(tuple)
trials = st.builds(
    Trial,
    number=counts,
    point=points,
    state=st.sampled_from(TrialState),
    measurements=several_measurements,
    final=st.none() | measurements,
    machine_s=numbers,
    stopped_early=st.booleans(),
)
studies = st.recursive(
    st.builds(Study, configs, st.lists(trials, max_size=2).map(tuple)),
    lambda earlier: st.builds(
        Study, configs, st.just(()), earlier=st.lists(earlier, max_size=2).map(tuple)
    ),
    max_leaves=2,
)
study_names = st.builds(StudyName, segments, segments, segments)
study_records = st.builds(
    StudyRecord,
    uid=segments.map(StudyUid),
    name=st.none() | study_names,
    display_name=texts,
    config=configs,
    request=texts,
    seed=st.integers(0, 2**128),
    create_time=times,
    earlier=st.lists(studies, max_size=2).map(tuple),
    made=counts,
    ended=counts,
    state=st.sampled_from(StudyState),
    why_inactive=any_text,
    version=counts,
)
suggestions = st.builds(
    SuggestionRecord,
    reason=any_text,
    sentence=any_text,
    finished=counts,
    pending=st.lists(counts, max_size=3).map(tuple),
    model=st.none() | counts,
    seed=st.integers(0, 2**128),
    version=any_text,
    predictions=st.lists(
        st.builds(PredictionRecord, any_text, numbers, numbers, numbers), max_size=2
    ).map(tuple),
    distance=st.none() | numbers,
)
trial_records = st.builds(
    TrialRecord,
    number=counts,
    point=points,
    create_time=times,
    state=st.sampled_from(TrialState),
    start_time=st.none() | times,
    end_time=st.none() | times,
    ended_as=counts,
    client_id=any_text,
    suggestion=st.none() | suggestions,
    measurements=several_measurements,
    final=st.none() | measurements,
    outcome=st.none() | st.sampled_from(State),
    infeasible_reason=any_text,
    stop_reason=any_text,
    machine_s=numbers,
    tags_seen=text_tuples,
)
reports = st.builds(
    Report,
    key=any_text,
    values=measured,
    step=counts,
    elapsed_s=numbers,
    time=times,
    source=any_text,
)
