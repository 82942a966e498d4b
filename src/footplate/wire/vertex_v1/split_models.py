"""The messages of splits of datasets, in pipelines and exports."""

from __future__ import annotations

from footplate.domain.data_splits import DataSplit, Fractions, SplitMethod
from footplate.wire.json_model import JsonModel
from footplate.wire.scalars import Double, Text


class FractionSplit(JsonModel):
    training_fraction: Double | None = None
    validation_fraction: Double | None = None
    test_fraction: Double | None = None

    def fractions(self) -> Fractions:
        return Fractions(
            self.training_fraction or 0.0,
            self.validation_fraction or 0.0,
            self.test_fraction or 0.0,
        )


class FilterSplit(JsonModel):
    training_filter: Text | None = None
    validation_filter: Text | None = None
    test_filter: Text | None = None

    def filters(self) -> tuple[str, str, str]:
        return self.training_filter or "", self.validation_filter or "", self.test_filter or ""


class PredefinedSplit(JsonModel):
    key: Text | None = None


class KeyedFractionSplit(FractionSplit):
    """A timestamp split or a stratified split."""

    key: Text | None = None


def split_of(
    split: FractionSplit | FilterSplit | PredefinedSplit, method: SplitMethod
) -> DataSplit:
    if isinstance(split, FilterSplit):
        return DataSplit(method, filters=split.filters())
    key = split.key or "" if isinstance(split, PredefinedSplit | KeyedFractionSplit) else ""
    fractions = split.fractions() if isinstance(split, FractionSplit) else Fractions()
    return DataSplit(method, fractions, key)
