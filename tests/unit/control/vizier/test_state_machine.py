"""Clients that ask, measure, complete, stop and delete in any order, against a simple model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.domain.names import StudyName
from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.parameters import IntegerParameter
from footplate.domain.studies.records import StudyState
from footplate.domain.studies.request import StudyRequest
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import Algorithm, StudyConfig, StudyLimits
from footplate.domain.studies.transitions import Outcome
from footplate.domain.studies.trials import TrialState
from footplate.domain.studies.user_trials import NewTrial
from footplate.domain.submission import Location
from tests.support.jobs_service import TickingClock
from tests.support.profiles import scaled
from tests.support.vizier import memory_vizier

LOSS = Metric("loss", Goal.MINIMIZE)
SPACE = SearchSpace((IntegerParameter("x", 1, 6),))
SPEC = '{"metrics":[{"metricId":"loss","goal":"MINIMIZE"}]}'
CLIENTS = st.sampled_from(["a", "b"])
LOSSES = st.integers(0, 3).map(float) | st.just(math.nan)


@dataclass
class Expected:
    """A trial as the clients know it."""

    client: str
    state: TrialState
    x: int
    curve: dict[int, float] = field(default_factory=dict)
    final: float | None = None


class Vizier(RuleBasedStateMachine):
    @initialize(most=st.none() | st.integers(2, 9))
    def begin(self, most: int | None) -> None:
        self.most = most
        self.vizier = memory_vizier(TickingClock())
        limits = None if most is None else StudyLimits(max_trials=most)
        config = StudyConfig(SPACE, (LOSS,), Algorithm.GRID, limits=limits)
        request = StudyRequest("s", config, SPEC)
        made = self.vizier.studies.create(Location("demo", "us-central1"), request)
        assert isinstance(made.name, StudyName)
        self.name = made.name
        self.trials: dict[int, Expected] = {}
        self.made = 0
        self.state = StudyState.ACTIVE

    # What clients do ----------------------------------------------------------------------------

    @rule(client=CLIENTS, count=st.integers(1, 4))
    def suggest(self, client: str, count: int) -> None:
        at_work = self._numbers(TrialState.ACTIVE, client)
        waiting = self._numbers(TrialState.REQUESTED) if self.state is StudyState.ACTIVE else []
        old = (at_work + waiting)[:count]
        made = self.vizier.suggesting.suggest(self.name, count, client)
        numbers = [trial.number for trial in made.trials]
        new = sorted(set(numbers) - set(old))
        assert sorted(numbers) == sorted([*old, *new])
        assert new == list(range(self.made + 1, self.made + 1 + len(new)))
        if self.state is not StudyState.ACTIVE or len(old) == count:
            assert not new
        if self.most is not None:
            assert len(self.trials) + len(new) <= max(self.most, len(self.trials))
        if len(numbers) < count and len(self.trials) + len(new) != self.most:
            assert made.state is not StudyState.ACTIVE
        for trial in made.trials:
            assert (trial.client_id, trial.state) == (client, TrialState.ACTIVE)
            known = self.trials.get(trial.number)
            point = trial.point["x"]
            assert isinstance(point, int)
            assert known is None or known.x == point
            curve = {} if known is None else known.curve
            self.trials[trial.number] = Expected(client, TrialState.ACTIVE, point, curve)
        self.made += len(new)
        assert self.state is StudyState.ACTIVE or made.state is self.state
        self.state = made.state

    @rule(x=st.integers(1, 6))
    def bring(self, x: int) -> None:
        told = self.vizier.trials.create(self.name, NewTrial({"x": x}))
        self.made += 1
        assert told.trial.number == self.made
        self.trials[self.made] = Expected("", TrialState.REQUESTED, x)

    @precondition(lambda self: self.made)
    @rule(data=st.data(), step=st.integers(1, 3), loss=LOSSES, twice=st.booleans())
    def measure(self, data: st.DataObject, step: int, loss: float, twice: bool) -> None:  # noqa: FBT001
        number = self._any(data)
        expected = self.trials.get(number)
        for _ in range(2 if twice else 1):
            if self._refused(expected, number, Measurement({"loss": loss}, step)):
                return
        assert expected is not None
        expected.curve[step] = loss

    @precondition(lambda self: self.made)
    @rule(data=st.data(), loss=st.none() | LOSSES, infeasible=st.booleans())
    def complete(self, data: st.DataObject, loss: float | None, infeasible: bool) -> None:  # noqa: FBT001
        number = self._any(data)
        expected = self.trials.get(number)
        final = None if loss is None else Measurement({"loss": loss})
        outcome = Outcome(final, infeasible, "broke" if infeasible else "")
        wrong = self._why_incomplete(expected, outcome)
        if wrong is not None:
            with pytest.raises(wrong):
                self.vizier.trials.complete(self.name, number, outcome)
            return
        assert expected is not None
        self.vizier.trials.complete(self.name, number, outcome)
        expected.state = TrialState.INFEASIBLE if infeasible else TrialState.SUCCEEDED
        if not infeasible:
            expected.final = loss if loss is not None else expected.curve[max(expected.curve)]

    @precondition(lambda self: self.made)
    @rule(data=st.data())
    def stop(self, data: st.DataObject) -> None:
        number = self._any(data)
        expected = self.trials.get(number)
        if expected is None:
            with pytest.raises(NotFound):
                self.vizier.trials.stop(self.name, number)
            return
        self.vizier.trials.stop(self.name, number)
        if not expected.state.ended:
            expected.state = TrialState.STOPPING
        assert self.vizier.stopping.check(self.name, number)

    @precondition(lambda self: self.made)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        number = self._any(data)
        if self.trials.pop(number, None) is None:
            with pytest.raises(NotFound):
                self.vizier.trials.delete(self.name, number)
        else:
            self.vizier.trials.delete(self.name, number)

    # What is always so --------------------------------------------------------------------------

    @invariant()
    def all_trials_are_as_expected(self) -> None:
        told = self.vizier.trials.list(self.name, limit=100, after=None).trials
        assert [each.trial.number for each in told] == sorted(self.trials)
        for each in told:
            expected = self.trials[each.trial.number]
            assert each.trial.state is expected.state
            assert each.trial.point == {"x": expected.x}
            assert {m.step for m in each.measurements} == set(expected.curve)
            final = each.trial.final
            assert repr(final and final.values["loss"]) == repr(expected.final)
            assert (each.trial.ended_as > 0) is expected.state.ended

    @invariant()
    def the_optimal_ones_have_the_least_loss(self) -> None:
        losses = {
            number: trial.final
            for number, trial in self.trials.items()
            if trial.final is not None and math.isfinite(trial.final)
        }
        optimal = [told.trial.number for told in self.vizier.trials.optimal(self.name)]
        least = min(losses.values(), default=None)
        assert optimal == sorted(n for n, loss in losses.items() if loss == least)

    def _numbers(self, state: TrialState, client: str = "") -> list[int]:
        found = self.trials.items()
        return sorted(n for n, t in found if t.state is state and t.client == client)

    def _any(self, data: st.DataObject) -> int:
        return data.draw(st.integers(1, self.made))

    def _refused(self, expected: Expected | None, number: int, given: Measurement) -> bool:
        if expected is not None and not expected.state.ended:
            self.vizier.trials.measure(self.name, number, given)
            return False
        with pytest.raises(NotFound if expected is None else FailedPrecondition):
            self.vizier.trials.measure(self.name, number, given)
        return True

    def _why_incomplete(
        self, expected: Expected | None, outcome: Outcome
    ) -> type[NotFound] | type[FailedPrecondition] | None:
        if expected is None:
            return NotFound
        judged = outcome.infeasible or outcome.final is not None or expected.curve
        return FailedPrecondition if expected.state.ended or not judged else None


TestVizier = Vizier.TestCase
TestVizier.settings = settings(max_examples=scaled(60), stateful_step_count=25, deadline=None)
