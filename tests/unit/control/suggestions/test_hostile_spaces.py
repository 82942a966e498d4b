"""Whatever the space and the results are: points of the space, as long as there are any."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate.control.suggestions import Suggester
from footplate.control.suggestions.model_fitting import Models
from footplate.domain.names import StudyUid
from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Scale,
)
from footplate.domain.studies.records import StudyRecord, TrialRecord
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import Algorithm, StudyConfig
from footplate.domain.studies.trials import TrialState
from tests.support.clock import FakeClock
from tests.support.profiles import scaled
from tests.support.store import MemoryStore
from tests.support.study_strategies import spaces

UID = StudyUid("study")
METRIC = Metric("m", Goal.MINIMIZE)
TRIALS = 15
RESULTS = st.lists(
    st.none() | st.sampled_from([0.0, 1.0, -1e300, 1e300, 1.7e308, 5e-324]) | st.floats(0, 1),
    min_size=TRIALS,
    max_size=TRIALS,
)
SEARCHED = settings(
    deadline=None, max_examples=scaled(15), suppress_health_check=[HealthCheck.too_slow]
)


def nested(depth: int) -> CategoricalParameter:
    branches: tuple[Branch, ...] = ()
    if depth:
        branches = (Branch(("a",), nested(depth - 1)),)
    return CategoricalParameter(f"level{depth}", ("a", "b"), branches=branches)


def double(low: float, high: float, scale: Scale = Scale.NONE) -> DoubleParameter:
    return DoubleParameter(f"x{low}{scale}", low, high, scale)


WIDE = -(2**63), 2**63 - 1
ODD: dict[str, tuple[Parameter, ...]] = {
    "one point": (double(1, 1, Scale.LOG), IntegerParameter("i", 2, 2, Scale.REVERSE_LOG)),
    "all numbers": (double(1e-300, 1e300, Scale.LOG), double(1e-300, 1e300, Scale.REVERSE_LOG)),
    "the largest": (double(1e308, 1.7e308), double(-1.7e308, 1.7e308, Scale.LINEAR)),
    "the least": (double(0, 5e-324), double(5e-324, 1e-323, Scale.LOG)),
    "neighbours": (double(1, math.nextafter(1, 2), Scale.LOG), double(2, math.nextafter(2, 3))),
    "all integers": (IntegerParameter("i", *WIDE), IntegerParameter("j", 1, WIDE[1], Scale.LOG)),
    "large integers": (IntegerParameter("i", 2**62, 2**62 + 5, Scale.REVERSE_LOG),),
    "far apart": (DiscreteParameter("d", (-1.7e308, 0.0, 5e-324, 1.7e308), Scale.LINEAR),),
    "ten thousand": (CategoricalParameter("c", tuple(map(str, range(10_000)))), double(0, 1)),
    "one branch": (CategoricalParameter("c", ("a",), branches=(Branch(("a",), double(0, 1)),)),),
    "equal bounds": (double(2, 2), double(3, 3, Scale.LOG), double(0, 1)),
    "near 0": (double(5e-324, 1, Scale.LOG), double(1e-12, 2e-12, Scale.LOG)),
    "in each other": (nested(32),),
    "empty text": (CategoricalParameter("c", ("", " ", "\n", "-", "\x1b", "NaN")),),
}


class Desk:
    def __init__(self, space: SearchSpace, algorithm: Algorithm) -> None:
        self.space = space
        self.store = MemoryStore().studies
        clock = FakeClock()
        self.suggester = Suggester(self.store, Models(self.store), clock)
        config = StudyConfig(space, (METRIC,), algorithm)
        self.store.create(StudyRecord(UID, None, "d", config, "{}", 7, clock.now()))

    def end(self, trial: TrialRecord, value: float | None) -> None:
        """None: it failed."""
        study = self.store.load(UID).study
        final = None if value is None else Measurement({METRIC.name: value}, 1, 1.0)
        state = TrialState.INFEASIBLE if value is None else TrialState.SUCCEEDED
        ended = replace(trial, state=state, final=final, ended_as=study.ended + 1)
        after = replace(study, ended=study.ended + 1, version=study.version + 1)
        self.store.write(after, [ended])

    def live(self, results: list[float | None]) -> None:
        for value in results:
            suggested = self.suggester.suggest(UID, 1)
            if not suggested.trials:
                assert self.space.size is not None
                assert len(self.store.load(UID).trials) == self.space.size
                assert "of the search space" in suggested.exhausted
                return
            (trial,) = suggested.trials
            assert not list(self.space.problems(trial.point))
            self.end(trial, value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("algorithm", Algorithm)
@pytest.mark.parametrize("name", ODD)
def test_odd_spaces(name: str, algorithm: Algorithm) -> None:
    space = SearchSpace(ODD[name])
    if algorithm is Algorithm.GRID and space.size is None:
        return
    made: list[list[float | None]] = [[1.0], [None], [1.7e308, -1.7e308], [0.0, 1.0, 1e-300]]
    made.append([math.nan, math.inf, 1.0, -math.inf])
    for results in made:
        Desk(space, algorithm).live((results * TRIALS)[:TRIALS])


@SEARCHED
@given(spaces(), st.sampled_from(Algorithm), RESULTS)
def test_any_space(space: SearchSpace, algorithm: Algorithm, results: list[float | None]) -> None:
    if algorithm is not Algorithm.GRID or space.size is not None:
        Desk(space, algorithm).live(results)
