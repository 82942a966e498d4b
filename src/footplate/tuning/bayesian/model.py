"""The fitted model of a search, which can be stored; when one is fitted, and which one a suggestion
uses.

All is keyed to how many trials have ended, in the order of their ends, never to time: the same
trials lead to the same models and points on a machine that is busy. Models form a chain: the one of
a count is ``refit(the study with its first so many ended trials, the model of the count before)``.
Past some trials each model begins anew: for a study with a thousand trials that
ended at once only that one is made, and not a hundred that lead to it.

``inherited``: how many ended trials of earlier studies count like own ones (``finished_count`` of
the study without trials of its own). Where there are many, own ones change less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from footplate.tuning.gaussian.fitting import Hyperparameters

_AT_ONCE = 20
"""Up to so many ended trials each one changes the picture, and the next point waits for the fit."""
_SHARE = 25
"""One new trial of so many is enough for another fit."""
_CHAINED = 128
"""Models of more ended trials begin anew."""
VERSION = 3
"""Of what the hyperparameters mean. A model of another version is fitted anew."""


def following(count: int, inherited: int = 0) -> int:
    """Returns the count of trials at which the next model after ``count`` is made.

    The chain begins with 0, the model of earlier studies alone.
    """
    step = 1
    while step < (inherited + count + step) // _SHARE:
        step += 1
    return count + step


def newest(finished: int, inherited: int = 0) -> int:
    """Returns the last count of the chain that is not larger than ``finished``."""
    return counts(finished, inherited)[-1]


def counts(finished: int, inherited: int = 0) -> list[int]:
    """Returns all counts of the chain up to ``finished``, in ascending order, beginning with 0."""
    found = [0]
    while (count := following(found[-1], inherited)) <= finished:
        found.append(count)
    return found


def lineage(count: int, inherited: int = 0) -> list[int]:
    """Returns the counts of the models behind the model of ``count``, from 0 to itself.

    If that model begins anew, only the model of 0 comes before it, as it holds what earlier studies
    say.
    """
    return [0, count] if begins_anew(inherited + count) and count else counts(count, inherited)


def begins_anew(finished: int) -> bool:
    """Returns whether a model is fitted from trials alone, without an earlier model."""
    return finished > _CHAINED


def wanted(finished: int, inherited: int = 0) -> int:
    """Returns the count of trials of the model that a suggestion after ``finished`` ends uses.

    After the first trials this is never the count of the last end: so there is time to fit the next
    model until the next trial ends.
    """
    late = inherited + finished > _AT_ONCE and finished > 0
    return newest(finished - 1 if late else finished, inherited)


@dataclass(frozen=True)
class Model:
    """A fitted model; suggestions depend only on it, the trials and the study's seed.

    The model doesn't hold the trials: trials that have ended since the fit are considered when a
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
        """Converts the model to values that JSON can hold."""
        return asdict(self)


def model_from_record(record: Mapping[str, object]) -> Model | None:
    """Reads a model; None: it was made by another version, and must be fitted again.

    Raises KeyError, TypeError or ValueError: the record isn't one that ``to_record`` made.
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
        raise TypeError(
            f"stored model: {record!r} given; allowed: lengths, signal, rough and noise"
        )
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
