"""The division of a dataset's rows into sets for training, validation and test. Pure.

Sources: the reference of TrainingPipeline (InputDataConfig), and the pages on data splits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import Enum
from types import MappingProxyType

DEFAULT_FRACTIONS = (0.8, 0.1, 0.1)
_SLACK = 1e-9
"""The error of a sum of three fractions that are meant to add up to 1."""


class DataSet(Enum):
    """The sets, in the order in which a row that fits several of them is assigned."""

    TRAINING = "training"
    VALIDATION = "validation"
    TEST = "test"


SETS = tuple(DataSet)
PREDEFINED: Mapping[str, DataSet] = MappingProxyType(
    {
        **{each.value: each for each in SETS},
        "TRAIN": DataSet.TRAINING,
        "VALIDATE": DataSet.VALIDATION,
        "TEST": DataSet.TEST,
    }
)
"""The values of a column that assign a row: those of the reference, and those of the guide."""
NOTHING = "-"
"""The filter that matches no data item."""


class SplitMethod(Enum):
    FRACTIONS = "fractionSplit"
    FILTERS = "filterSplit"
    PREDEFINED = "predefinedSplit"
    TIMES = "timestampSplit"
    STRATA = "stratifiedSplit"


TABULAR_ONLY = frozenset({SplitMethod.PREDEFINED, SplitMethod.TIMES, SplitMethod.STRATA})


@dataclass(frozen=True)
class Fractions:
    """The shares of the sets; 0 means not given."""

    training: float = 0.0
    validation: float = 0.0
    test: float = 0.0

    @property
    def excess(self) -> bool:
        """Returns whether the fractions are more than everything."""
        return self.training + self.validation + self.test > 1 + _SLACK

    def complete(self) -> tuple[float, ...]:
        """Returns the shares of the three sets, which add up to 1.

        Sets without a fraction share what is left. If there is none, all sets grow in proportion.
        """
        given: tuple[float, ...] = astuple(self)
        missing = given.count(0.0)
        total = sum(given)
        if missing == len(SETS):
            return DEFAULT_FRACTIONS
        left = 1 - total
        if left <= _SLACK or not missing:
            return tuple(each / total for each in given)
        return tuple(each or left / missing for each in given)


@dataclass(frozen=True)
class DataSplit:
    """A split of a request.

    ``key`` names a column. ``filters`` select data items for each set: by their labels, or
    ``NOTHING``.
    """

    method: SplitMethod = SplitMethod.FRACTIONS
    fractions: Fractions = Fractions()
    key: str = ""
    filters: tuple[str, ...] = ()

    def wanted(self) -> tuple[DataSet, ...]:
        """Returns the sets that must not be empty."""
        if self.method is SplitMethod.FILTERS:
            pairs = zip(SETS, self.filters, strict=True)
            return tuple(each for each, where in pairs if where != NOTHING)
        if self.method is SplitMethod.PREDEFINED:
            return (DataSet.TRAINING,)
        pairs_of_shares = zip(SETS, self.fractions.complete(), strict=True)
        return tuple(each for each, share in pairs_of_shares if share > 0)


DEFAULT = DataSplit()


def apportion(count: int, fractions: Sequence[float]) -> tuple[int, ...]:
    """Divides rows by fractions that add up to 1.

    The sizes add up to ``count``. A set with a fraction gets a row if there are enough rows.
    """
    sizes = list(round_together([count * each for each in fractions], count))
    for index, fraction in enumerate(fractions):
        largest = sizes.index(max(sizes))
        if fraction > 0 and not sizes[index] and sizes[largest] > 1:
            sizes[largest] -= 1
            sizes[index] += 1
    return tuple(sizes)


def round_together(exact: Sequence[float], total: int) -> tuple[int, ...]:
    """Rounds numbers so that they add up to ``total``: up where the remainders are the largest.

    Negative numbers become 0.
    """
    sizes = [max(0, int(each)) for each in exact]
    order = sorted(range(len(exact)), key=lambda index: sizes[index] - exact[index])
    position = 0
    while sum(sizes) < total:
        sizes[order[position % len(order)]] += 1
        position += 1
    while sum(sizes) > total:
        sizes[sizes.index(max(sizes))] -= 1
    return tuple(sizes)
