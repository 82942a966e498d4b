"""Reads the ``[prices]`` table of the settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.machine_hours import Prices

_TABLES = ("machines", "accelerators")
_CURRENCY_LETTERS = 8


def read_prices(value: object) -> Prices:
    """Reads the ``[prices]`` table: ``currency``, ``machines`` and ``accelerators``.

    The names aren't compared with the catalogue. Raises InvalidArgument with all faults, TypeError.
    """
    if not isinstance(value, dict):
        raise TypeError("a [prices] table in the file")
    violations = tuple(_bad_prices(value))
    if violations:
        raise InvalidArgument.of(violations)
    return Prices(value["currency"], *(_floats(value.get(name, {})) for name in _TABLES))


def _floats(table: Mapping[str, Any]) -> Mapping[str, float]:
    return {name: float(price) for name, price in table.items()}


def _bad_prices(table: Mapping[str, object]) -> Iterator[Violation]:
    currency = table.get("currency")
    short = isinstance(currency, str) and currency.isalpha() and len(currency) <= _CURRENCY_LETTERS
    if not short:
        yield Violation(
            "prices.currency", f"{currency!r} given; allowed: a few letters, such as EUR"
        )
    for name, value in table.items():
        if name in _TABLES:
            yield from _bad_table(f"prices.{name}", value)
        elif name != "currency":
            allowed = "currency, machines, accelerators"
            yield Violation(f"prices.{name}", f"unknown key; allowed: {allowed}")


def _bad_table(field_name: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield Violation(field_name, f"{value!r} given; allowed: a table of prices per hour")
        return
    for name, price in value.items():
        number = isinstance(price, int | float) and not isinstance(price, bool)
        if not (number and 0 <= price < float("inf")):
            text = f"{price!r} given; allowed: a price per hour, 0 or more"
            yield Violation(f"{field_name}.{name}", text)
