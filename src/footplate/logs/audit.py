"""The audit log in two files of bounded size: one that grows, and the one before it.

Each begins with a name of its own, by which the keys of pages know it: inodes are used again.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from footplate.domain.errors import Unavailable
from footplate.file_lock import file_lock
from footplate.ports.audit import AuditEntry
from footplate.ports.pages import Page

MOST_BYTES = 8 << 20
"""Of each file: some 30,000 entries."""
_CHUNK = 1 << 16
_NAME_BYTES = 32
_LONGEST = 1000
"""Characters of a field."""
_log = logging.getLogger(__name__)


class FileAuditLog:
    """Implements ports.audit.AuditLog; servers that share the data directory share the files."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        self._path = path
        self._older = path.with_name(f"{path.name}.1")
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._fails = False

    def add(self, entry: AuditEntry) -> None:
        fields = {name: str(value)[:_LONGEST] for name, value in asdict(entry).items()}
        line = json.dumps({**fields, "time": entry.time.isoformat()}).encode() + b"\n"
        try:
            with self._lock:
                self._append(line)
            self._fails = False
        except (OSError, Unavailable) as error:
            if not self._fails:
                _log.warning("the audit log can't be written: %s", error)
            self._fails = True

    def list(self, limit: int, after: str | None = None) -> Page[AuditEntry]:
        found: list[AuditEntry] = []
        key = ""
        with ExitStack() as stack:
            for place, line in self._lines(stack, after):
                if len(found) == limit:
                    return Page(tuple(found), key)
                if (entry := _parse(line)) is not None:
                    found.append(entry)
                    key = place
        return Page(tuple(found), None)

    def _append(self, line: bytes) -> None:
        while True:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._path, flags, 0o600)
            try:
                with file_lock(descriptor):
                    if self._is_current(descriptor):
                        size = os.fstat(descriptor).st_size
                        if size < self._most_bytes:
                            os.write(descriptor, line if size else _first_line() + line)
                            return
                        self._path.replace(self._older)
            finally:
                os.close(descriptor)

    def _is_current(self, descriptor: int) -> bool:
        """Returns whether a file is still the current log; another server may have rotated it."""
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        return False

    def _lines(self, stack: ExitStack, after: str | None) -> Iterator[tuple[str, bytes]]:
        """Yields lines, newest first, each with its place, which is a key."""
        wanted, _, offset = (after or "").partition(":")
        for path in (self._path, self._older):
            try:
                file = stack.enter_context(path.open("rb"))
            except FileNotFoundError:
                continue
            name = file.readline(_NAME_BYTES).strip().decode(errors="replace")
            end = os.fstat(file.fileno()).st_size
            if wanted:
                if wanted != name or not offset.isdecimal():
                    continue
                wanted, end = "", min(end, int(offset[:18]))
            for start, line in _backwards(file, end):
                yield f"{name}:{start}", line


def _first_line() -> bytes:
    return secrets.token_hex(_NAME_BYTES // 2 - 1).encode() + b"\n"


def _backwards(file: BinaryIO, end: int) -> Iterator[tuple[int, bytes]]:
    """Yields the lines before ``end``, the last one first, each with its offset."""
    rest = b""
    while end > 0:
        begin = max(0, end - _CHUNK)
        file.seek(begin)
        first, *lines = (file.read(end - begin) + rest).splitlines(keepends=True)
        at = begin + len(first) + sum(map(len, lines))
        for line in reversed(lines):
            at -= len(line)
            yield at, line
        rest, end = first, begin
    if rest:
        yield 0, rest


def _parse(line: bytes) -> AuditEntry | None:
    """Parses an entry; None: it was not written completely."""
    try:
        fields = json.loads(line)
        time = datetime.fromisoformat(fields.pop("time"))
        return AuditEntry(time=time, **{name: str(text) for name, text in fields.items()})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
