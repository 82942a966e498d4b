"""Transforms of a projection, such as ``createTime.date()``: those of gcloud that people use.

Source: ``gcloud topic projections``. One that doesn't fit a value gives its ``undefined``.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.cli.formats.field_paths import read
from footplate.cli.formats.times import iso_duration, strftime
from footplate.cli.terminal_text import spell_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic import JsonValue

    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.formats.format_spec import Argument, Call


@dataclass(frozen=True)
class TransformArguments:
    """What a transform is called with: its parameters by name, those left over, the resource."""

    named: Mapping[str, str]
    rest: Sequence[str]
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
    return TransformArguments(named, placed[len(names) :], resource)


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


def _always(value: JsonValue, _given: TransformArguments) -> JsonValue:
    return value


def _basename(value: JsonValue, given: TransformArguments) -> JsonValue:
    return text_of(value).rstrip("/").rpartition("/")[2] or given.text("undefined")


def _count(value: JsonValue, _given: TransformArguments) -> JsonValue:
    return dict(Counter(texts_of(value))) if isinstance(value, list) else None


def _date(value: JsonValue, given: TransformArguments) -> JsonValue:
    form = given.text("format", "%Y-%m-%dT%H:%M:%S")
    return strftime(value, form, given.text("tz")) or given.text("undefined")


def _decode(value: JsonValue, given: TransformArguments) -> JsonValue:
    try:
        return base64.b64decode(text_of(value), validate=True).decode()
    except (binascii.Error, ValueError):
        return given.text("undefined")


def _duration(value: JsonValue, given: TransformArguments) -> JsonValue:
    start, end = (_field(given, given.text(name)) for name in ("start", "end"))
    if "start" not in given.named:
        return iso_duration(value, None) or given.text("undefined")
    return iso_duration(start, end) or given.text("undefined")


def _encode(value: JsonValue, _given: TransformArguments) -> JsonValue:
    return base64.b64encode(text_of(value).encode()).decode()


def _extract(value: JsonValue, given: TransformArguments) -> JsonValue:
    if not isinstance(value, dict):
        return None
    return [value[key] for key in given.rest if value.get(key)]


def _firstof(value: JsonValue, given: TransformArguments) -> JsonValue:
    """The keys are those of the value, or of the resource where there is no path."""
    within = value if isinstance(value, dict) else given.resource
    found = (read(within, tuple(key.split("."))) for key in given.rest)
    return next((one for one in found if one not in (None, "")), given.text("undefined"))


def _flatten(value: JsonValue, given: TransformArguments) -> JsonValue:
    return given.text("separator", ",").join(texts_of(value))


def _format(_value: JsonValue, given: TransformArguments) -> JsonValue:
    """``{0}`` and so on stand for the fields that are named."""
    text = given.text("fmt")
    for place, key in enumerate(given.rest):
        text = text.replace(f"{{{place}}}", text_of(_field(given, key)))
    return text


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


def _map(value: JsonValue, _given: TransformArguments) -> JsonValue:
    """A path reads each item anyway."""
    return value


def _notnull(value: JsonValue, _given: TransformArguments) -> JsonValue:
    return [item for item in value if item is not None] if isinstance(value, list) else value


def _scope(value: JsonValue, given: TransformArguments) -> JsonValue:
    """What follows the name of one of the collections: a zone, a location."""
    parts = text_of(value).split("/")
    for name in given.rest or ("regions", "zones", "locations"):
        if name in parts[:-1]:
            return "/".join(parts[parts.index(name) + 1 :])
    return text_of(value) and (parts[-1] if len(parts) > 1 else "")


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


def _slice(value: JsonValue, given: TransformArguments) -> JsonValue:
    """``0``, ``1:3``, ``:2``."""
    start, colon, end = given.text("op").partition(":")
    if not isinstance(value, list | str):
        return None
    try:
        first = int(start) if start else None
        last = int(end) if end else None
    except ValueError:
        return None
    return value[first:last] if colon else value[first : None if first in (None, -1) else first + 1]


def _sort(value: JsonValue, _given: TransformArguments) -> JsonValue:
    return [*sorted(texts_of(value))] if isinstance(value, list) else value


def _split(value: JsonValue, given: TransformArguments) -> JsonValue:
    separator = given.text("sep", "/")
    return [*text_of(value).split(separator)] if value and separator else None


def _sub(value: JsonValue, given: TransformArguments) -> JsonValue:
    """Plain text for plain text: a pattern of a user's may take for ever."""
    pattern = given.text("pattern")
    return text_of(value).replace(pattern, given.text("replacement")) if pattern else value


def _trailoff(value: JsonValue, given: TransformArguments) -> JsonValue:
    text, length = text_of(value), max(3, given.number("character_limit", 80))
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _uri(_value: JsonValue, given: TransformArguments) -> JsonValue:
    resource = given.resource
    return text_of(resource.get("name") or resource.get("selfLink") or resource.get("jobId"))


def _yesno(value: JsonValue, given: TransformArguments) -> JsonValue:
    if not value:
        return given.text("no", "No")
    return given.text("yes") or value


def _field(given: TransformArguments, name: str) -> JsonValue:
    return read(given.resource, tuple(name.split("."))) if name else None


TRANSFORMS: dict[str, Transform] = {
    "always": Transform(_always),
    "basename": Transform(_basename, ("undefined",)),
    "color": Transform(_always),
    "count": Transform(_count),
    "date": Transform(_date, ("format", "unit", "undefined", "tz")),
    "decode": Transform(_decode, ("encoding", "undefined")),
    "duration": Transform(_duration, ("start", "end")),
    "encode": Transform(_encode, ("encoding",)),
    "extract": Transform(_extract),
    "firstof": Transform(_firstof),
    "flatten": Transform(_flatten),
    "format": Transform(_format, ("fmt",)),
    "iso": Transform(_date, ("undefined",)),
    "join": Transform(_join, ("sep", "undefined")),
    "len": Transform(_len),
    "list": Transform(_list, ("show", "undefined", "separator")),
    "map": Transform(_map),
    "notnull": Transform(_notnull),
    "scope": Transform(_scope),
    "segment": Transform(_segment, ("index", "undefined")),
    "size": Transform(_size, ("zero", "precision")),
    "slice": Transform(_slice, ("op",)),
    "sort": Transform(_sort),
    "split": Transform(_split, ("sep",)),
    "string": Transform(lambda value, _given: text_of(value)),
    "sub": Transform(_sub, ("pattern", "replacement")),
    "trailoff": Transform(_trailoff, ("character_limit",)),
    "uri": Transform(_uri, ("undefined",)),
    "yesno": Transform(_yesno, ("yes", "no")),
}
