"""Scans event files below some directories, again and again."""

from __future__ import annotations

from footplate.replica.metrics.event_directories import DirectoryScan
from footplate.replica.metrics.event_file import Corrupt, EventFile
from footplate.replica.metrics.events import read_scalars
from footplate.replica.metrics.protobuf import Malformed

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator, Sequence

    from footplate.replica.metrics.event_directories import Found
    from footplate.replica.metrics.metric_records import MetricRecords

MOST_ENTRIES = 5000
"""So many files and directories of each place are looked through."""
MOST_FILES = 1000
"""So many event files are read in all."""
_UNWRITTEN_BYTES = 128
"""TensorFlow begins a file with its version and its source, which take fewer than these."""
_MAX_UNKNOWN_EVENT_BYTES = 4096
"""Records that are longer, and don't name a tag that is wanted, aren't looked into."""


class Scanner:
    def __init__(self, places: Sequence[str], findings: MetricRecords) -> None:
        self._places = places
        self._findings = findings
        self._tags = [tag.encode("utf-8", "replace") for tag in findings.wanted]
        self._files: dict[str, EventFile] = {}
        self._noted: set[str] = set()
        self._left = 0.0

    def look(self, most_bytes: float) -> Iterator[None]:
        """Reads about ``most_bytes`` of new data; the next scan continues there.

        It yields after each small piece of work, and may be dropped then.
        """
        self._left = most_bytes
        there: set[str] = set()
        whole = True
        for place in self._places:
            walk = DirectoryScan(place, MOST_ENTRIES)
            for found in walk:
                yield
                if found is not None:
                    there.add(found.path)
                    yield from self._read(found)
            whole = whole and not walk.cut
            if walk.cut:
                self._note(
                    f"{place} holds more than {MOST_ENTRIES} files and directories: the "
                    "service may miss event files that are deeper in it"
                )
        if whole:
            self._files = {path: file for path, file in self._files.items() if path in there}

    def note_unwritten(self) -> None:
        """Reports event files in which nothing was ever written, if no metric was found."""
        names = [
            f"{file.path.rpartition('/')[2]} in {file.source}"
            for file in self._files.values()
            if file.size <= _UNWRITTEN_BYTES and not file.has_scalars
        ]
        if names and not self._findings.matched:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            self._note(
                f"the event file {names[0]}{more} holds no summary: the writer was never flushed; "
                "call its flush() or close() before the program ends"
            )

    def _read(self, found: Found) -> Iterator[None]:
        file = self._files.get(found.path)
        if file is None:
            if len(self._files) >= MOST_FILES:
                self._note(
                    f"the program has more than {MOST_FILES} event files: the service reads no "
                    "more of them"
                )
                return
            file = self._files[found.path] = EventFile(found.path, found.source)
        if not file.changed(found.status):
            return
        while self._left > 0 and not self._findings.full:
            read_bytes = self._read_on(file, found)
            if not read_bytes:
                file.settle(found.status)
                return
            self._left -= read_bytes
            yield

    def _read_on(self, file: EventFile, found: Found) -> int:
        def take(event: bytes) -> None:
            try:
                scalars = read_scalars(event)
            except Malformed:
                return
            for scalar in scalars:
                file.has_scalars = True
                fields = scalar.tag, scalar.step, scalar.value, scalar.time
                self._findings.take(*fields, found.source)

        try:
            return file.read(found.status.st_size, self._wants, take)
        except Corrupt as corrupt:
            name = file.path.rpartition("/")[2]
            self._note(
                f"the service stops reading the event file {name} in {file.source}: {corrupt}"
            )
            return 0
        finally:
            self._findings.flush()

    def _wants(self, event: bytes) -> bool:
        strange = not self._findings.matched and len(event) <= _MAX_UNKNOWN_EVENT_BYTES
        return strange or any(tag in event for tag in self._tags)

    def _note(self, message: str) -> None:
        if message not in self._noted:
            self._noted.add(message)
            self._findings.note(message)
