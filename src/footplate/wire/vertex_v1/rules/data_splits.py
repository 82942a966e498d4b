"""The rules for splits of datasets.

Source: the reference of FractionSplit, FilterSplit, PredefinedSplit, TimestampSplit and
StratifiedSplit.
"""

from __future__ import annotations

from collections.abc import Iterator

from footplate.domain.errors import Violation
from footplate.wire.vertex_v1.data_filters import check_data_filter
from footplate.wire.vertex_v1.split_models import (
    FilterSplit,
    FractionSplit,
    KeyedFractionSplit,
    PredefinedSplit,
)


def check_split(
    split: FractionSplit | FilterSplit | PredefinedSplit, at: str
) -> Iterator[Violation]:
    """Yields faults of a split, which is at the path ``at`` of its request."""
    if isinstance(split, FilterSplit):
        yield from _check_filters(split, at)
        return
    if isinstance(split, PredefinedSplit | KeyedFractionSplit) and not split.key:
        yield Violation(f"{at}.key", "required: the name of a column")
    if isinstance(split, FractionSplit):
        yield from _check_fractions(split, at)


def _check_fractions(split: FractionSplit, at: str) -> Iterator[Violation]:
    given = (split.training_fraction, split.validation_fraction, split.test_fraction)
    for name, value in zip(("training", "validation", "test"), given, strict=True):
        if value is not None and not 0 <= value <= 1:
            yield Violation(f"{at}.{name}Fraction", f"{value:g} given; allowed: 0 to 1")
    if split.fractions().excess:
        total = sum(value or 0 for value in given)
        yield Violation(at, f"the fractions have the sum {total:g}; allowed: at most 1")


def _check_filters(split: FilterSplit, at: str) -> Iterator[Violation]:
    for name, text in zip(("training", "validation", "test"), split.filters(), strict=True):
        field = f"{at}.{name}Filter"
        if not text:
            yield Violation(field, "required: a filter of labels, or - for no item")
        elif fault := check_data_filter(text):
            yield Violation(field, fault)
