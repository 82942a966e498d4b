"""Scalars of proto3 JSON, tolerant where clients differ."""

from __future__ import annotations

import math
import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, PlainValidator

from footplate.wire.durations import check_duration
from footplate.wire.json_text import describe
from footplate.wire.timestamps import check_timestamp

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")
"""How proto3 JSON writes doubles that are no numbers."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 1000
"""Characters of one that is written as a text; a double needs 25."""


def _integer(value: object, bits: int) -> int:
    """Reads an int, an integral float, or a string of digits, within ``bits``."""
    if isinstance(value, str):
        integral = _INTEGER.fullmatch(value) is not None
    elif isinstance(value, float):
        integral = value.is_integer()
    else:
        integral = isinstance(value, int) and not isinstance(value, bool)
    if integral and isinstance(value, str | int | float):
        number = int(value)
        if -(1 << bits - 1) <= number < 1 << bits - 1:
            return number
    raise ValueError(f"{describe(value)} given; allowed: an integer of {bits} bits")


def _int32(value: object) -> int:
    return _integer(value, 32)


def _int64(value: object) -> int:
    return _integer(value, 64)


def _double(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(value):
        number = float(value)
        if math.isfinite(number):
            return number
    raise ValueError(f"{describe(value)} given; allowed: a finite number")


def _reading(value: object) -> float:
    return float(value) if isinstance(value, str) and value in _NOT_FINITE else _double(value)


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{describe(value)} given; allowed: true or false")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    hint = f', such as "{value}"' if isinstance(value, int | float) else ""
    raise ValueError(f"{describe(value)} given; allowed: a string{hint}")


Text = Annotated[str, PlainValidator(_text)]
Flag = Annotated[bool, PlainValidator(_flag)]
Int32 = Annotated[int, PlainValidator(_int32)]
Int64 = Annotated[int, PlainValidator(_int64), PlainSerializer(str)]
"""Given back as a string, as Google does: JavaScript's numbers end at 53 bits."""
Double = Annotated[float, PlainValidator(_double)]
Reading = Annotated[float, PlainValidator(_reading)]
"""What a program measured; not always finite."""
Duration = Annotated[str, BeforeValidator(check_duration)]
Timestamp = Annotated[str, BeforeValidator(check_timestamp)]
