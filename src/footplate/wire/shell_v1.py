"""Control messages of a shell's WebSocket: JSON text frames.

To the shell: ``{"open": {"size": [COLUMNS, ROWS], "term": NAME, "command": TEXT}}``, all of whose
fields may be missing, is the first; then ``{"resize": [COLUMNS, ROWS]}``, and ``{"eof": true}`` at
the end of a command's input. From it: ``{"stream": "stderr"}`` before bytes that a command wrote
elsewhere than those before, and at last ``{"exit": CODE}`` or ``{"error": REASON}``. ``{}`` is a
sign of life. A replica also says ``{"taken": BYTES}`` when the shell has read so much of its input:
it never has more than ``WINDOW_BYTES`` to hold, and so always hears what else it is told.

Both sides are strangers: what isn't exactly this is refused, and what is goes on in our spelling.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_text import JsonObject, describe, parse_object

if TYPE_CHECKING:
    from pydantic import JsonValue

MAX_MESSAGE_BYTES = 1 << 20
WINDOW_BYTES = 1 << 18
MAX_COMMAND_LENGTH = 100_000
"""In characters: what Linux takes as one argument is 128 KiB."""
MAX_ERROR_LENGTH = 1000
_MOST_CELLS = 10_000
_MAX_CODE = 255
_TERM = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._-]{0,63}")
_STREAMS = ("stdout", "stderr")

Size = tuple[int, int]
"""Columns and rows."""


@dataclass(frozen=True)
class Opening:
    """The request for a terminal, or, with ``command``, for running it without a terminal."""

    size: Size = (80, 24)
    term: str = "xterm"
    command: str | None = None


@dataclass(frozen=True)
class Resize:
    size: Size


@dataclass(frozen=True)
class EndOfInput:
    """The end of a command's input."""


@dataclass(frozen=True)
class Stream:
    """The stream of the bytes that follow: ``stdout`` or ``stderr``."""

    name: str


@dataclass(frozen=True)
class WindowUpdate:
    """The number of bytes that the shell has read since; meant for the server, not the user."""

    count: int


@dataclass(frozen=True)
class Exit:
    """A command's exit code as shells report it: 128 plus the signal's number for a signal."""

    code: int


@dataclass(frozen=True)
class Failure:
    """The reason why the shell can't be opened, or has ended."""

    message: str


@dataclass(frozen=True)
class LifeSign:
    """A keep-alive message, without content."""


Request = Opening | Resize | EndOfInput | LifeSign
Answer = Stream | WindowUpdate | Exit | Failure | LifeSign


def encode_message(message: Request | Answer) -> str:
    return json.dumps(_object(message), ensure_ascii=False)


def _object(message: Request | Answer) -> JsonObject:
    match message:
        case Opening(size, term, command):
            return {"open": {"size": list(size), "term": term, "command": command}}
        case Resize(size):
            return {"resize": list(size)}
        case EndOfInput():
            return {"eof": True}
        case Stream(name):
            return {"stream": name}
        case WindowUpdate(count):
            return {"taken": count}
        case Exit(code):
            return {"exit": code}
        case Failure(reason):
            return {"error": reason}
        case LifeSign():
            return {}


def decode_request(text: str) -> Request:
    """Decodes a message to the shell. Raises InvalidArgument."""
    match _only(text):
        case None:
            return LifeSign()
        case ("open", dict() as opening):
            return _opening(opening)
        case ("resize", size):
            return Resize(_size(size, "resize"))
        case ("eof", True):
            return EndOfInput()
    raise _wrong("message", text, 'one of {"open": ...}, {"resize": ...}, {"eof": true}')


def decode_answer(text: str) -> Answer:
    """Decodes a message from the shell. Raises InvalidArgument."""
    match _only(text):
        case None:
            return LifeSign()
        case ("stream", str() as name) if name in _STREAMS:
            return Stream(name)
        case ("taken", int() as count) if not isinstance(count, bool) and count > 0:
            return WindowUpdate(count)
        case ("exit", int() as code) if not isinstance(code, bool) and 0 <= code <= _MAX_CODE:
            return Exit(code)
        case ("error", str() as reason):
            return Failure(reason[:MAX_ERROR_LENGTH])
    raise _wrong("message", text, 'one of {"stream": ...}, {"exit": ...}, {"error": ...}')


def _only(text: str) -> tuple[str, JsonValue] | None:
    """Returns the only field of an object; None: the object is empty."""
    value = parse_object(text.encode("utf-8", "surrogatepass"))
    if len(value) > 1:
        raise _wrong("message", text, "one field in each message")
    return next(iter(value.items()), None)


def _opening(given: JsonObject) -> Opening:
    unknown = set(given) - {"size", "term", "command"}
    if unknown:
        raise _wrong("open", sorted(unknown), "size, term, command")
    default, term, command = Opening(), given.get("term"), given.get("command")
    size = given.get("size")
    if term is not None and not (isinstance(term, str) and _TERM.fullmatch(term)):
        raise _wrong("open.term", term, "the name of a kind of terminal, such as xterm")
    if command is not None and not (
        isinstance(command, str) and len(command) <= MAX_COMMAND_LENGTH
    ):
        raise _wrong("open.command", command, f"text of at most {MAX_COMMAND_LENGTH} characters")
    return Opening(
        default.size if size is None else _size(size, "open.size"),
        default.term if term is None else term,
        command,
    )


def _size(given: JsonValue, field: str) -> Size:
    match given:
        case [int() as columns, int() as rows] if not isinstance(columns, bool) and not isinstance(
            rows, bool
        ):
            if 1 <= columns <= _MOST_CELLS and 1 <= rows <= _MOST_CELLS:
                return columns, rows
    raise _wrong(field, given, f"[COLUMNS, ROWS], each from 1 to {_MOST_CELLS}")


def _wrong(field: str, given: object, allowed: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, f"{describe(given)} given; allowed: {allowed}"),))
