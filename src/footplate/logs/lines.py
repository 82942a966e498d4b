"""Reads lines of an append-only file, forwards and backwards, by offset."""

from __future__ import annotations

import os
from collections.abc import Iterator

CHUNK_BYTES = 256 << 10
_STEP_BYTES = 4 << 10
"""What a jump into the middle reads first; most lines are shorter."""


def lines_after(fd: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yields offset and text of each line in ``[start, end)``, except an incomplete one."""
    rest, offset = b"", start
    while start < end:
        chunk = os.pread(fd, min(CHUNK_BYTES, end - start), start)
        if not chunk:
            return
        start += len(chunk)
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield offset, line
            offset += len(line) + 1


def lines_before(fd: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yields offset and text of each line below ``end``, the last line first.

    ``end`` must follow a newline.
    """
    rest, start = b"", end - 1
    while start > 0:
        size = min(CHUNK_BYTES, start)
        chunk = os.pread(fd, size, start - size)
        rest, *whole = (chunk + rest).split(b"\n")
        for line in reversed(whole):
            end -= len(line) + 1
            yield end, line
        start -= size
    if end > 0:
        yield 0, rest


def line_start(fd: int, offset: int, end: int) -> int:
    """Returns the first beginning of a line at or after ``offset``; ``end`` if there is none."""
    if offset <= 0:
        return 0
    position = offset - 1
    while position < end:
        chunk = os.pread(fd, min(_STEP_BYTES, end - position), position)
        if not chunk:
            break
        found = chunk.find(b"\n")
        if found >= 0:
            return position + found + 1
        position += len(chunk)
    return end


def line_at(fd: int, offset: int, end: int) -> bytes:
    """Returns the line that begins at ``offset``."""
    parts: list[bytes] = []
    step = _STEP_BYTES
    while offset < end:
        chunk = os.pread(fd, min(step, end - offset), offset)
        line, newline, _ = chunk.partition(b"\n")
        parts.append(line)
        if newline or not chunk:
            break
        offset, step = offset + len(chunk), CHUNK_BYTES
    return b"".join(parts)


def last_newline(fd: int, end: int) -> int:
    """Returns the offset after the last newline below ``end``; 0 if there is none."""
    while end > 0:
        size = min(CHUNK_BYTES, end)
        found = os.pread(fd, size, end - size).rfind(b"\n")
        if found >= 0:
            return end - size + found + 1
        end -= size
    return 0
