"""The same trials, model and seed give the same points, whatever happened around them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.parameters import CategoricalParameter, DoubleParameter
from footplate.domain.studies.space import Point, SearchSpace
from footplate.domain.studies.study import Study
from footplate.domain.studies.trials import Trial, TrialState
from footplate.tuning.bayesian.model import Model, counts, model_from_record, newest, wanted
from footplate.tuning.bayesian.model_fit import refit
from footplate.tuning.bayesian.search import BayesianSearch
from footplate.tuning.sampling import draw, generator
from tests.unit.tuning.bayesian.studies import empty, finished, with_finished, with_pending
from tests.unit.tuning.spaces import BRIEF, spaces

MIXED = SearchSpace(
    (
        DoubleParameter("x", 0.0, 1.0),
        DoubleParameter("z", 0.0, 1.0),
        CategoricalParameter("kind", ("a", "b")),
    )
)


def loss(point: Point) -> float:
    off = (float(point["x"]) - 0.3) ** 2 + (float(point["z"]) - 0.6) ** 2
    return off + (0.1 if point["kind"] == "a" else 0.0)


@BRIEF
@given(spaces(), st.integers(0, 2**62), st.integers(3, 14), st.data())
def test_the_order_in_which_trials_are_given_changes_nothing(
    space: SearchSpace, seed: int, count: int, data: st.DataObject
) -> None:
    study = empty(space)
    for place in range(count):
        point = draw(space, generator(seed, place))
        if place % 4 == 3:
            study = with_pending(study, point)
        else:
            study = with_finished(study, point, None if place % 5 == 4 else float(place % 7))
    order = data.draw(st.permutations(study.trials))
    shuffled = replace(study, trials=tuple(order))
    assert refit(shuffled) == refit(study)
    one, other = (BayesianSearch().suggest(of, 2, seed) for of in (study, shuffled))
    assert one == other


@dataclass(frozen=True)
class Record:
    """What is kept of a suggestion."""

    finished: int
    pending: tuple[int, ...]
    model: int
    seed: int


@dataclass
class Life:
    """A study whose trials end in an order of their own, as a service runs it."""

    study: Study
    seed: int
    ended: list[int] = field(default_factory=list)
    records: dict[int, Record] = field(default_factory=dict)
    models: dict[int, Model | None] = field(default_factory=lambda: {0: None})

    def begin(self) -> None:
        used = wanted(len(self.ended))
        number = len(self.study.trials) + 1
        pending = tuple(t.number for t in self.study.pending)
        self.records[number] = Record(len(self.ended), pending, used, self.seed)
        batch = BayesianSearch(self.models[used]).suggest(self.study, 1, self.seed)
        self.study = with_pending(self.study, batch.suggestions[0].point)

    def end(self, number: int) -> None:
        point = self.study.trials[number - 1].point
        trials = list(self.study.trials)
        trials[number - 1] = finished(number, point, loss(point))
        self.study = replace(self.study, trials=tuple(trials))
        self.ended.append(number)
        if newest(len(self.ended)) not in self.models:
            count = len(self.ended)
            self.models[count] = refit(self.study, self.models[newest(count - 1)])


def seen(study: Study, ended: list[int], pending: tuple[int, ...] = ()) -> Study:
    """The study as it was when these had ended, and those ran."""
    done = tuple(t for t in study.trials if t.number in ended)
    running = tuple(Trial(n, study.trials[n - 1].point, TrialState.ACTIVE) for n in pending)
    return replace(study, trials=(*done, *running))


@BRIEF
@given(st.integers(0, 2**31), st.lists(st.integers(0, 2), min_size=9, max_size=9))
def test_a_suggestion_replays_from_what_is_kept_of_it(seed: int, ends: list[int]) -> None:
    life = Life(empty(MIXED), seed)
    running: list[int] = []
    while len(life.ended) < 9:
        if len(running) < 3:
            life.begin()
            running.append(len(life.study.trials))
        else:
            life.end(running.pop(ends[len(life.ended)]))
    used = {record.model for record in life.records.values()}
    models = {count: chain(life.study, life.ended, count) for count in used}
    for number, record in life.records.items():
        ended = life.ended[: record.finished]
        model = models[record.model]
        stored = (
            None if model is None else model_from_record(json.loads(json.dumps(model.to_record())))
        )
        then = seen(life.study, ended, record.pending)
        again = BayesianSearch(stored).suggest(then, 1, record.seed).suggestions[0].point
        assert again == life.study.trials[number - 1].point


def test_past_the_first_trials_a_model_follows_from_trials_alone() -> None:
    """A process that has none of those before it makes the same one."""
    study, wrong = empty(MIXED), empty(MIXED)
    for place in range(330):
        point = draw(MIXED, generator(7, place))
        study = with_finished(study, point, loss(point))
        wrong = with_finished(wrong, point, -loss(point))
    assert refit(study, refit(wrong)) == refit(study)


def chain(study: Study, ended: list[int], count: int) -> Model | None:
    """The model of a count, made again from the first one on."""
    model = None
    for at in counts(count):
        model = refit(seen(study, ended[:at]), model)
    return model
