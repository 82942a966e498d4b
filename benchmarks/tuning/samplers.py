"""Who chooses the points of trials that may be stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tuners import TUNERS

from footplate.tuning.sampling import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curves import Trainings

    from footplate.domain.studies.space import Point

_PARALLEL = 8


class Sampler(Protocol):
    def ask(self, number: int) -> Point: ...

    def tell(self, number: int, losses: Sequence[float], *, stopped: bool) -> None: ...


class Given:
    """The same points for every rule."""

    def __init__(self, trainings: Trainings, seed: int) -> None:
        self._trainings, self._seed = trainings, seed

    def ask(self, number: int) -> Point:
        return self._trainings.point(generator(self._seed, 2, number))

    def tell(self, number: int, losses: Sequence[float], *, stopped: bool) -> None: ...


class Tuned:
    """A tuner, which is told the last loss of stopped trials too."""

    def __init__(self, trainings: Trainings, seed: int, name: str) -> None:
        self._tuner = TUNERS[name](trainings.space, seed, _PARALLEL)
        self._asked: dict[int, tuple[object, Point]] = {}

    def ask(self, number: int) -> Point:
        self._asked[number] = self._tuner.ask()
        return self._asked[number][1]

    def tell(self, number: int, losses: Sequence[float], *, stopped: bool) -> None:  # noqa: ARG002 - a loss is a loss
        token, point = self._asked.pop(number)
        self._tuner.tell(token, point, losses[-1])
        self._tuner.learn()


SAMPLERS: dict[str, Callable[[Trainings, int], Sampler]] = {
    "random": Given,
    "tpe": lambda trainings, seed: Tuned(trainings, seed, "optuna-tpe"),
    "footplate": lambda trainings, seed: Tuned(trainings, seed, "footplate"),
}
