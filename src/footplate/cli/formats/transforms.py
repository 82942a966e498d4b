"""Transforms of a projection, such as ``createTime.date()``: the eight of gcloud that people use.

Source: ``gcloud topic projections``. One that doesn't fit a value gives its ``undefined``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.cli.formats.format_spec import read
from footplate.cli.formats.times import iso_duration, strftime
from footplate.cli.terminal_text import spell_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic import JsonValue

    from footplate.cli.formats.format_spec import Argument, Call, Resource


@dataclass(frozen=True)
class TransformArguments:
    """What a transform is called with: its parameters by name, the resource."""

    named: Mapping[str, str]
    resource: Resource

    def text(self, name: str, default: str = "") -> str:
        return self.named.get(name, default)

    def number(self, name: str, default: int = 0) -> int:
        try:
            return int(self.named.get(name, default))
        except ValueError:
            return default


@dataclass(frozen=True)
class Transform:
    """``parameters``: the names of arguments that are given by place, in their order."""

    run: Callable[[JsonValue, TransformArguments], JsonValue]
    parameters: tuple[str, ...] = ()


def apply(value: JsonValue, call: Call, resource: Resource) -> JsonValue:
    transform = TRANSFORMS[call.name]
    return transform.run(value, _bound(call.arguments, transform.parameters, resource))


def _bound(
    arguments: Sequence[Argument], names: Sequence[str], resource: Resource
) -> TransformArguments:
    placed = [argument.text for argument in arguments if not argument.name]
    named = dict(zip(names, placed, strict=False))
    named.update({a.name: a.text for a in arguments if a.name})
    return TransformArguments(named, resource)


def text_of(value: JsonValue) -> str:
    """Of one value; what has parts is written as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else spell_json(value)


def texts_of(value: JsonValue) -> list[str]:
    """Of the parts of a value; those of an object with their names."""
    if isinstance(value, dict):
        return [f"{name}={text_of(part)}" for name, part in sorted(value.items())]
    if isinstance(value, list):
        return [";".join(texts_of(p)) if isinstance(p, dict) else text_of(p) for p in value]
    return [text_of(value)] if value not in (None, "") else []


def _basename(value: JsonValue, given: TransformArguments) -> JsonValue:
    return text_of(value).rstrip("/").rpartition("/")[2] or given.text("undefined")


def _date(value: JsonValue, given: TransformArguments) -> JsonValue:
    form = given.text("format", "%Y-%m-%dT%H:%M:%S")
    return strftime(value, form, given.text("tz")) or given.text("undefined")


def _duration(value: JsonValue, given: TransformArguments) -> JsonValue:
    start, end = (_field(given, given.text(name)) for name in ("start", "end"))
    if "start" not in given.named:
        return iso_duration(value, None) or given.text("undefined")
    return iso_duration(start, end) or given.text("undefined")


def _join(value: JsonValue, given: TransformArguments) -> JsonValue:
    parts = texts_of(value) if isinstance(value, list) else []
    return given.text("sep", "/").join(parts) or given.text("undefined")


def _len(value: JsonValue, _given: TransformArguments) -> JsonValue:
    return len(value) if isinstance(value, str | list | dict) else 0


def _list(value: JsonValue, given: TransformArguments) -> JsonValue:
    shown = given.text("show")
    parts = texts_of(value)
    if isinstance(value, dict) and shown in {"keys", "values"}:
        parts = [name if shown == "keys" else text_of(value[name]) for name in sorted(value)]
    return given.text("separator", ",").join(parts) or given.text("undefined")


def _segment(value: JsonValue, given: TransformArguments) -> JsonValue:
    parts, index = text_of(value).split("/"), given.number("index", -1)
    found = parts[index] if -len(parts) <= index < len(parts) else ""
    return found or given.text("undefined")


_KIB = 1024.0


def _size(value: JsonValue, given: TransformArguments) -> JsonValue:
    try:
        number = float(text_of(value))
    except ValueError:
        return given.text("undefined")
    return size_text(number, given.number("precision", 1)) if number else given.text("zero", "0")


def size_text(number: float, precision: int = 1) -> str:
    """Of bytes, in the largest unit in which it is 1 at least."""
    units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while abs(number) >= _KIB and len(units) > 1:
        number /= _KIB
        units.pop(0)
    text = f"{number:.{precision}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {units[0]}"


def _field(given: TransformArguments, name: str) -> JsonValue:
    return read(given.resource, tuple(name.split("."))) if name else None


TRANSFORMS: dict[str, Transform] = {
    "basename": Transform(_basename, ("undefined",)),
    "date": Transform(_date, ("format", "unit", "undefined", "tz")),
    "duration": Transform(_duration, ("start", "end")),
    "join": Transform(_join, ("sep", "undefined")),
    "len": Transform(_len),
    "list": Transform(_list, ("show", "undefined", "separator")),
    "segment": Transform(_segment, ("index", "undefined")),
    "size": Transform(_size, ("zero", "precision")),
}
