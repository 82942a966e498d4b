"""Reads a program's stdout and stderr, and splits them into lines."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False  # without the module typing, which would cost memory

if TYPE_CHECKING:
    from typing import Callable


LINE_LIMIT_BYTES = 65536
"""Longer lines come in pieces of at most this size, none of which splits a character."""


SHOW_INTERVAL_S = 5.0
"""A line that has no end yet is shown after so long, and while it changes as often."""
NEVER = float("inf")
_UP = b"\x1b[A"
"""Moves a terminal's cursor up: bars below one another end no line, they return to the first."""
_ESCAPE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")


class Progress(str):
    """The state of a line that isn't finished yet, or that its program rewrites, as progress bars
    do.
    """

    __slots__ = ()


class LineSplitter:
    """Buffers at most one unfinished line of ``limit`` bytes, and its state before.

    A line that is rewritten after ``\\r`` comes once, as ``Progress``: in its last state that
    isn't blank, as a terminal would show it.
    """

    __slots__ = (
        "_before",
        "_below",
        "_limit",
        "_rest",
        "_returned",
        "_rewritten",
        "_shown",
        "unseen",
    )

    def __init__(self, limit: int = LINE_LIMIT_BYTES) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._before = b""
        """The last state of the line, up to ``\\r``."""
        self._returned = False
        """Whether the last byte was ``\\r``: one before ``\\n`` rewrites nothing."""
        self._rewritten = False
        self._below = 0
        """How many ends of lines are to follow that only go back down."""
        self._shown: str | None = None
        self.unseen = False
        """Whether the unfinished line has changed since it was shown."""

    def feed(self, data: bytes) -> list[str]:
        """Returns the lines that ``data`` completes, without their ends (``\\n`` or ``\\r\\n``)."""
        if self._returned or self._rewritten or b"\r" in data or self._shown is not None:
            return self._feed_rewritten(data)
        first, *others = data.split(b"\n")
        self._rest += first
        lines: list[str] = []
        for other in others:
            lines += self._cut()
            lines.append(self._rest.decode("utf-8", "replace"))
            self._rest = bytearray(other)
        lines += self._cut()
        self.unseen = bool(self._rest)
        return lines

    def show(self) -> list[str]:
        """Returns the state of the unfinished line, unless that was shown already."""
        self.unseen = False
        text = self._text().rstrip()
        if text == self._shown or not text:
            return []
        self._shown = text
        return [Progress(text)]

    def finish(self) -> list[str]:
        """Returns the last line, if the stream ended without an end of line."""
        if not self._text():
            return []
        self._rewritten = self._rewritten or self._returned
        return self._end()

    def _feed_rewritten(self, data: bytes) -> list[str]:
        lines: list[str] = []
        first = True
        for line in data.split(b"\n"):
            if not first and not self._stays():
                lines += self._end()
            first = False
            returns = False
            for state in line.split(b"\r"):
                if returns:
                    self._return()
                returns = True
                if state:
                    self._rewritten = self._rewritten or self._returned
                    self._returned = False
                    self._rest += state
                    lines += self._cut()
        self.unseen = bool(self._rest or self._before)
        return lines

    def _return(self) -> None:
        self._returned = True
        if self._rest:
            if not self._before or not _is_blank(self._rest):
                self._before = bytes(self._rest)
            self._rest = bytearray()

    def _stays(self) -> bool:
        """Returns whether an end of line only moves the cursor back to the line that it came up
        from.
        """
        ups = 0
        while self._rewritten and self._rest.endswith(_UP):
            del self._rest[-len(_UP) :]
            ups += 1
        if ups:
            self._return()
            self._below = ups - 1
            return True
        if self._below and not self._rest:
            self._below -= 1
            return True
        return False

    def _end(self) -> list[str]:
        """Returns the line, unless it was shown already; begins the next one."""
        text, shown = self._text(), self._shown
        rewritten = self._rewritten
        self._rest, self._before = bytearray(), b""
        self._returned = self._rewritten = self.unseen = False
        self._shown, self._below = None, 0
        if text.rstrip() == shown:
            return []
        return [Progress(text) if rewritten else text]

    def _text(self) -> str:
        state = self._before if self._before and _is_blank(self._rest) else bytes(self._rest)
        if self._rewritten:
            state = state.replace(_UP, b"").rstrip()
        return state.decode("utf-8", "replace")

    def _cut(self) -> list[str]:
        """Returns pieces of the unfinished line, until its rest is within the limit."""
        pieces = []
        start = 0
        while len(self._rest) - start > self._limit:
            end = _character_start(self._rest, start + self._limit, start)
            pieces.append(self._rest[start:end].decode("utf-8", "replace"))
            start = end
        if start:
            del self._rest[:start]
        return pieces


def _is_blank(state: bytes | bytearray) -> bool:
    text = state.strip()
    return not text or (text.startswith(b"\x1b") and not _ESCAPE.sub(b"", text).strip())


def _character_start(data: bytearray, place: int, floor: int) -> int:
    """Returns ``place``, or the start of the UTF-8 character that would be split there."""
    for start in range(place, max(floor, place - 4), -1):
        if data[start] & 0xC0 != 0x80:
            return start
    return place


_AT_ONCE_BYTES = 16384


class Stream:
    """The reading end of one pipe; ``take`` gets the lines as they are completed.

    With a clock, ``take`` also gets unfinished lines, as ``Progress``, when ``show`` is called and
    they are due.
    """

    def __init__(
        self, take: Callable[[list[str]], None], monotonic: Callable[[], float] | None = None
    ) -> None:
        self.read_bytes = 0
        self.show_at = NEVER
        """When to show the line that has no end yet."""
        self._monotonic = monotonic
        self._take = take
        self._splitter = LineSplitter()
        self._reading, writing = os.pipe()
        self._writing = writing
        os.set_blocking(self._reading, False)

    @property
    def writing(self) -> int:
        """The end for the program; ``hand_over`` closes ours once the program has it."""
        return self._writing

    @property
    def open(self) -> bool:
        return self._reading >= 0

    def hand_over(self) -> None:
        os.close(self._writing)

    def fileno(self) -> int:
        return self._reading

    def read(self) -> bool:
        """Reads a little, and closes the stream at its end; returns False if there is nothing to
        read yet.
        """
        try:
            data = os.read(self._reading, _AT_ONCE_BYTES)
        except BlockingIOError:
            return False
        self.read_bytes += len(data)
        if data:
            lines = self._splitter.feed(data)
            self._take(lines)
            if self._monotonic is not None:
                self._set_show_at(self._monotonic, begun=bool(lines))
        else:
            self.close()
        return True

    def show(self, now: float) -> None:
        """Shows the state of the unfinished line, if that is due."""
        if now >= self.show_at:
            self.show_at = NEVER
            self._take(self._splitter.show())

    def _set_show_at(self, monotonic: Callable[[], float], *, begun: bool) -> None:
        """Sets when to show the unfinished line. ``begun`` says that the line began in the bytes
        just read, after the end of another.
        """
        if not self._splitter.unseen:
            self.show_at = NEVER
        elif begun or self.show_at == NEVER:
            self.show_at = monotonic() + SHOW_INTERVAL_S

    def close(self) -> None:
        """Takes the rest of the last line, and stops reading."""
        if self.open:
            os.close(self._reading)
            self._reading = -1
            self.show_at = NEVER
            self._take(self._splitter.finish())
