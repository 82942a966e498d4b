"""The fitted model of a search, which can be stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from footplate.tuning.gaussian.hyperparameters import Hyperparameters

VERSION = 3
"""Of what the hyperparameters mean. A model of another version is fitted anew."""


@dataclass(frozen=True)
class Model:
    """A suggestion follows from the model, the trials and the study's seed, and from nothing else.

    It does not hold the trials: those that have ended since it was fitted are factored in when a
    point is suggested.
    """

    seen: int
    """How many finished trials it was fitted to."""
    searched: int
    """To how many the last fit was that looked far and wide."""
    outputs: tuple[Hyperparameters, ...]
    """One for each metric; none while too few trials have values, and others are learned from."""
    feasibility: Hyperparameters | None = None
    """Where trials fail; None: none has."""
    earlier: tuple[tuple[Hyperparameters, ...], ...] = ((),)
    """For each metric: of each study to learn from, oldest first."""
    sharpness: tuple[float, ...] | None = None
    """How soon a change of each slot ends a tie. None: no trials end alike, or there are several
    metrics."""
    version: int = VERSION

    def to_record(self) -> dict[str, object]:
        """What JSON can hold."""
        return asdict(self)


def model_from_record(record: Mapping[str, object]) -> Model | None:
    """None: it is of another version, and has to be fitted anew.

    Raises KeyError, TypeError or ValueError where it isn't what ``to_record`` made.
    """
    if record["version"] != VERSION:
        return None
    feasibility, sharpness = record["feasibility"], record["sharpness"]
    return Model(
        seen=_whole(record["seen"]),
        searched=_whole(record["searched"]),
        outputs=tuple(map(_hyperparameters, cast("Sequence[object]", record["outputs"]))),
        earlier=tuple(
            tuple(map(_hyperparameters, cast("Sequence[object]", one)))
            for one in cast("Sequence[object]", record["earlier"])
        ),
        feasibility=None if feasibility is None else _hyperparameters(feasibility),
        sharpness=None if sharpness is None else _numbers(sharpness),
    )


def _hyperparameters(record: object) -> Hyperparameters:
    if not isinstance(record, Mapping):
        raise TypeError(f"{record!r} given; allowed: lengths, signal, rough and noise")
    lengths = tuple(float(length) for length in record["lengths"])
    signal, rough, noise = (float(record[name]) for name in ("signal", "rough", "noise"))
    return Hyperparameters(lengths, signal, rough, noise)


def _numbers(value: object) -> tuple[float, ...]:
    if not isinstance(value, Sequence):
        raise TypeError(f"{value!r} given; allowed: numbers")
    return tuple(float(one) for one in value)


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} given; allowed: a whole number")
    return value
