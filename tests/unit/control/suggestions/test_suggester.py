"""Suggestions beside others who write: they stay good, as long as nobody else makes some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from footplate.control.suggestions import Suggester, tuner_functions
from footplate.control.suggestions.model_fitting import Models
from footplate.domain.names import StudyUid
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.space import Point
from footplate.domain.studies.trials import TrialState
from footplate.domain.studies.user_trials import NewTrial, bring
from footplate.ports.studies import StudyStore
from footplate.tuning.designer import Batch
from tests.support.clock import FakeClock
from tests.support.searches import RMSE, make_search
from tests.support.tuning_rig import SearchRig

ENDED = 5


class Busy:
    """Studies; before each of the first writes somebody else writes."""

    def __init__(self, inner: StudyStore, others: list[Callable[[], object]]) -> None:
        self._inner = inner
        self._others = others

    def write(self, *given: Any, **more: Any) -> None:
        if self._others:
            self._others.pop(0)()
        self._inner.write(*given, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.fixture
def rig() -> SearchRig:
    rig = SearchRig()
    rig.submit(make_search(trials=ENDED, parallel=1))
    rig.settle()
    for number in range(1, ENDED + 1):
        rig.finish(number, value=1.0 / number)
    return rig


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    """All suggestions that were made, whether they were kept or not."""
    found: list[Batch] = []
    whole = tuner_functions.Tuner.suggest

    def suggest(study: Any, count: int, seed: int, model: Any) -> Any:
        found.append(whole(study, count, seed, model))
        return found[-1]

    monkeypatch.setattr(tuner_functions.Tuner, "suggest", staticmethod(suggest))
    return found


def uid_of(rig: SearchRig) -> StudyUid:
    return StudyUid(rig.job.uid)


def bring_one(rig: SearchRig, point: Point | None = None) -> None:
    studies, clock = rig.store.studies, FakeClock()
    kept = studies.load(uid_of(rig))
    final = Measurement({RMSE.name: 0.5})
    new = NewTrial(point or kept.trials[0].point, TrialState.SUCCEEDED, final=final)
    change = bring(kept.study, new, clock.now())
    studies.write(change.study, change.trials)


def suggester(rig: SearchRig, others: list[Callable[[], object]]) -> Suggester:
    busy: Any = Busy(rig.store.studies, others)
    return Suggester(busy, Models(busy), FakeClock())


def test_ends_of_others_cost_no_suggestion(rig: SearchRig, made: list[Batch]) -> None:
    others: list[Callable[[], object]] = [lambda: bring_one(rig)] * 3
    suggested = suggester(rig, others).suggest(uid_of(rig), 2)

    assert [len(batch.suggestions) for batch in made] == [2]
    assert [trial.number for trial in suggested.trials] == [ENDED + 4, ENDED + 5]
    one, other = (trial.suggestion for trial in suggested.trials)
    assert one is not None
    assert other is not None
    assert (one.finished, one.pending) == (ENDED, ())
    assert other.pending == (ENDED + 4,)


def test_a_suggestion_that_was_overtaken_replays(rig: SearchRig) -> None:
    mine = suggester(rig, [lambda: bring_one(rig)] * 2)
    for trial in mine.suggest(uid_of(rig), 3).trials:
        assert mine.replay(uid_of(rig), trial.number) == trial.point


def test_suggestions_of_another_server_are_known_to_the_next_ones(
    rig: SearchRig, made: list[Batch]
) -> None:
    theirs = suggester(rig, [])
    mine = suggester(rig, [lambda: theirs.suggest(uid_of(rig), 1)])
    (trial,) = mine.suggest(uid_of(rig), 1).trials

    assert len(made) == 3
    assert trial.suggestion is not None
    assert trial.suggestion.pending == (ENDED + 1,)


def test_a_point_that_somebody_brought_meanwhile_is_not_suggested(
    rig: SearchRig, made: list[Batch]
) -> None:
    mine = suggester(rig, [lambda: bring_one(rig, made[0].suggestions[0].point)])
    (trial,) = mine.suggest(uid_of(rig), 1).trials

    assert len(made) == 2
    assert trial.point != made[0].suggestions[0].point
