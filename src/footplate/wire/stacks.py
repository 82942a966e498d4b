"""Stacks as JSON: what a replica tells of its processes, and what all of them come to.

A replica's own words are hostile until checked: a program may have got hold of its token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.stacks import Dump, Frame, Process, Report, Thread
from footplate.wire.json_text import parse_object

if TYPE_CHECKING:
    from footplate.wire.json_text import JsonObject

MAX_PROCESSES = 64
MAX_THREADS = 128
MAX_FRAMES = 256
MAX_TEXT_LENGTH = 400
_MAX_NUMBER = (1 << 53) - 1

T = TypeVar("T")


def decode_dump(text: str) -> Dump:
    """What one replica told, cut where it is too much.

    Raises:
        InvalidArgument: it doesn't tell where processes stand.
    """
    dump = _read(TypeAdapter(Dump), parse_object(text.encode()))
    processes = dump.processes[:MAX_PROCESSES]
    more = len(dump.processes) - len(processes)
    return Dump(tuple(_bound(process) for process in processes), _number(dump.omitted + more))


def encode_report(report: Report) -> JsonObject:
    value: JsonObject = TypeAdapter(Report).dump_python(report, mode="json")
    return value


def read_report(resource: JsonObject) -> Report:
    """Raises InvalidArgument."""
    return _read(TypeAdapter(Report), resource)


def _read(adapter: TypeAdapter[T], value: JsonObject) -> T:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])[:200]
        raise InvalidArgument.of((Violation(path, first["msg"]),)) from None


def _bound(process: Process) -> Process:
    return Process(
        pid=_number(process.pid),
        command=_line(process.command),
        program=process.program,
        stopped=process.stopped,
        threads=tuple(_bound_thread(thread) for thread in process.threads[:MAX_THREADS]),
        error=_line(process.error),
    )


def _bound_thread(thread: Thread) -> Thread:
    frames = tuple(
        Frame(_line(each.function), _line(each.file), _number(each.line))
        for each in thread.frames[:MAX_FRAMES]
    )
    more = len(thread.frames) - len(frames)
    return Thread(_line(thread.name), frames, _number(thread.omitted + more))


def _line(text: str) -> str:
    """One line, not too long."""
    return " ".join(text[:MAX_TEXT_LENGTH].split())


def _number(value: int) -> int:
    return min(max(value, 0), _MAX_NUMBER)
