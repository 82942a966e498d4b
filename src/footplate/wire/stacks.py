"""The JSON of stack traces and their comparison.

A replica's own words are hostile until checked: a program may have got hold of its token.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.stacks import Dump, Frame, Process, Report, Thread
from footplate.wire.json_text import JsonObject, describe, parse_object

MAX_PROCESSES = 64
MAX_THREADS = 128
MAX_FRAMES = 256
MAX_TEXT_LENGTH = 400
_MAX_NUMBER = (1 << 53) - 1

T = TypeVar("T")


def decode_dump(text: str) -> Dump:
    """Decodes the stack traces of one replica, and truncates very large ones.

    Each part is checked separately, so that checking ends with the first wrong one: a list of a
    million wrong parts would cost gigabytes in errors.

    Raises:
        InvalidArgument: the text doesn't describe stack traces.
    """
    value = parse_object(text.encode())
    rest = _read_part(Dump, {**value, "processes": []})
    processes, more = _parts(value, "processes", MAX_PROCESSES)
    return Dump(tuple(map(_process, processes)), _number(rest.omitted + more))


def encode_report(report: Report) -> JsonObject:
    value: JsonObject = TypeAdapter(Report).dump_python(report, mode="json")
    return value


def read_report(resource: JsonObject) -> Report:
    """Decodes a report of stack traces. Raises InvalidArgument."""
    return _read(TypeAdapter(Report), resource)


def _read(adapter: TypeAdapter[T], value: JsonObject) -> T:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])[:200]
        raise InvalidArgument.of((Violation(path, first["msg"]),)) from None


def _parts(whole: JsonObject, field: str, most: int) -> tuple[list[JsonObject], int]:
    """Returns the first ``most`` objects of a list, and how many more it has."""
    given = whole.get(field)
    if not isinstance(given, list):
        raise _wrong(field, given, "a list")
    parts = []
    for part in given[:most]:
        if not isinstance(part, dict):
            raise _wrong(field, part, "an object")
        parts.append(part)
    return parts, len(given) - len(parts)


def _process(value: JsonObject) -> Process:
    rest = _read_part(Process, {**value, "threads": []})
    return Process(
        pid=_number(rest.pid),
        command=_line(rest.command),
        program=rest.program,
        stopped=rest.stopped,
        threads=tuple(map(_thread, _parts({"threads": [], **value}, "threads", MAX_THREADS)[0])),
        error=_line(rest.error),
    )


def _thread(value: JsonObject) -> Thread:
    rest = _read_part(Thread, {**value, "frames": []})
    frames, more = _parts(value, "frames", MAX_FRAMES)
    return Thread(_line(rest.name), tuple(map(_frame, frames)), _number(rest.omitted + more))


def _frame(value: JsonObject) -> Frame:
    read = _read_part(Frame, value)
    return Frame(_line(read.function), _line(read.file), _number(read.line))


def _wrong(field: str, given: object, allowed: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, f"{describe(given)} given; allowed: {allowed}"),))


def _read_part(kind: type[T], value: JsonObject) -> T:
    part: T = _read(_adapters()[kind], value)
    return part


@cache
def _adapters() -> Mapping[type, TypeAdapter[Any]]:
    """Returns the adapters, which are made once: making one takes longer than using it."""
    return {kind: TypeAdapter(kind) for kind in (Dump, Process, Thread, Frame)}


def _line(text: str) -> str:
    """Returns the text as one line of limited length."""
    return " ".join(text[:MAX_TEXT_LENGTH].split())


def _number(value: int) -> int:
    return min(max(value, 0), _MAX_NUMBER)
