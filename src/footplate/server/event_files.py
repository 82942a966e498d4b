"""Event files on this machine, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from footplate.domain.tracking.log_uploads import FilePosition
from footplate.ports.event_files import EventPiece, LoggedScalar
from footplate.replica.metrics.event_directories import DirectoryScan, Found
from footplate.replica.metrics.event_file import Corrupt, EventFile
from footplate.replica.metrics.events import read_scalars
from footplate.replica.metrics.protobuf import Malformed
from footplate.safe_path import resolve

MOST_ENTRIES = 10_000
"""Files and directories that are looked at below one directory."""


class LocalEventFiles:
    """Reads what programs have logged for TensorBoard (implements ports.event_files.EventFiles).

    ``roots`` contain job directories outside the buckets; links below them aren't followed.
    """

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._roots = [str(root) for root in roots]

    def read(
        self, directory: str, positions: Mapping[str, FilePosition], most_bytes: int
    ) -> EventPiece:
        scalars: list[LoggedScalar] = []
        reached, left = dict(positions), most_bytes
        for found in _sorted(resolve(directory, self._roots)):
            if left <= 0:
                break
            file = _open(found, positions.get(found.path))
            if file is not None:
                left -= _read(file, found, left, scalars)
                reached[found.path] = _position(file, found)
        return EventPiece(tuple(scalars), reached, more=left <= 0)


def _sorted(directory: str) -> list[Found]:
    found = [each for each in DirectoryScan(directory, MOST_ENTRIES) if each is not None]
    return sorted(found, key=lambda each: each.path)


def _open(found: Found, position: FilePosition | None) -> EventFile | None:
    """Opens the file; returns None if nothing was added to it."""
    file = EventFile(found.path, found.source)
    file.changed(found.status)
    if position is not None and position.file == _identity(found):
        if position.ended or position.offset == found.status.st_size:
            return None
        if position.offset < found.status.st_size:
            file.offset = position.offset
    return file


def _read(file: EventFile, found: Found, most: int, scalars: list[LoggedScalar]) -> int:
    """Reads the next part of the file; returns how many bytes were read."""
    size, begin = found.status.st_size, file.offset

    def take(event: bytes) -> None:
        scalars.extend(_scalars(event, found.source))

    try:
        while file.offset - begin < most and file.read(size, lambda _: True, take):
            pass
    except Corrupt:
        file.ended = True
    return file.offset - begin


def _scalars(event: bytes, folder: str) -> Iterator[LoggedScalar]:
    try:
        for each in read_scalars(event):
            yield LoggedScalar(folder, each.tag, each.step, each.value, each.time)
    except Malformed:
        return


def _position(file: EventFile, found: Found) -> FilePosition:
    return FilePosition(_identity(found), file.offset, file.ended)


def _identity(found: Found) -> str:
    return f"{found.status.st_dev}:{found.status.st_ino}"
