"""JSON documents of points and measurements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import quoted
from footplate.domain.studies.metrics import Measurement
from footplate.store.studies.numbers import read_number, write_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from footplate.domain.studies.parameters import Value
    from footplate.domain.studies.space import Point

Array = list[Any]
"""Any, because what JSON holds is checked where it is read."""


def point_document(point: Point) -> dict[str, Value]:
    """Raises InvalidArgument: a value is nan or infinite, which no parameter allows."""
    for name, value in point.items():
        if isinstance(value, float) and not math.isfinite(value):
            violation = Violation("parameters", f"{quoted(name)}: {value} given; allowed: a number")
            raise InvalidArgument.of((violation,))
    return dict(point)


def values_document(values: Mapping[str, float]) -> dict[str, float | str]:
    return {name: write_number(value) for name, value in values.items()}


def values_of(document: Mapping[str, object]) -> dict[str, float]:
    return {name: read_number(value) for name, value in document.items()}


def measurement_document(measurement: Measurement) -> Array:
    values = values_document(measurement.values)
    return [values, measurement.step, write_number(measurement.elapsed_s)]


def measurement_of(document: Array) -> Measurement:
    values, step, elapsed_s = document
    return Measurement(values_of(values), step, read_number(elapsed_s))


def measurement_documents(measurements: Iterable[Measurement]) -> list[Array]:
    return [measurement_document(measurement) for measurement in measurements]


def measurements_of(documents: Iterable[Array]) -> tuple[Measurement, ...]:
    return tuple(measurement_of(document) for document in documents)
