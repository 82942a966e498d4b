"""Watches a program's metrics while it runs, and scans once more after its end."""

from __future__ import annotations

import os

from footplate.replica.metrics.event_directories import DirectoryScan, outermost
from footplate.replica.metrics.event_file import Corrupt, EventFile
from footplate.replica.metrics.events import read_scalars
from footplate.replica.metrics.hypertune import HypertuneFile
from footplate.replica.metrics.metric_records import MetricRecords
from footplate.replica.metrics.protobuf import Malformed
from footplate.replica.phase import NEVER
from footplate.replica.realpath import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator, Sequence

    from footplate.replica.context import Context
    from footplate.replica.metrics.event_directories import Found


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


STAT_S = 1.0
"""Seconds from one look at hypertune's file to the next."""
POLL_INTERVAL_S = 2.0
MAX_BACKOFF_S = 60.0
"""At least and at most, from one look through event files to the next."""
SCAN_BYTES = 8 << 20
"""So much is read in one look while the program runs."""
MAX_FINAL_SCAN_S = 20.0
_SLICE_S = 0.02
"""The supervisor does nothing else for about so long."""
_REST = 49
"""A look is followed by so many times its own length: it takes a fiftieth of a core."""
_ENTRIES_PER_STEP = 4
"""And a part of a look by so many times the length of that."""


class Watch:
    """The watch of a program's metrics, which pauses while the journal accepts no output.

    Every replica searches all directories that its task names, shared ones too: nobody knows which
    replica will be the last to see what the others wrote. The server keeps one of equal
    measurements.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._findings = MetricRecords(context.journal, context.task.metrics)
        folder, name = os.path.split(context.home.metrics)
        self._hypertune = HypertuneFile(os.path.join(find_real(folder), name))
        places = outermost([*context.directories, *filter(None, [context.workdir])])
        self._looks = Scanner(places, self._findings)
        self._inspect: Iterator[None] | None = None
        self._spent_s = 0.0
        self._stat_at = self._look_at = context.monotonic() + STAT_S
        self._give_up_at: float | None = None
        self._concluded = False

    @property
    def concluded(self) -> bool:
        """Says whether the last scan is over."""
        return self._concluded

    def deadline(self) -> float:
        if self._concluded or not self._context.journal.accepts():
            return NEVER
        if self._findings.full and self._give_up_at is None:
            return NEVER
        return min(self._stat_at, self._look_at)

    def advance(self) -> None:
        """Scans if a scan is due while the program runs."""
        now = self._context.monotonic()
        if now < self.deadline():
            return
        if now >= self._stat_at:
            self._stat_at = now + STAT_S
            self._hypertune.look(self._findings.take)
            self._findings.flush()
        if now >= self._look_at:
            self._go_on(now)

    def advance_last(self) -> None:
        """Scans everything once more, without pauses, after the program has ended."""
        now = self._context.monotonic()
        if self._concluded:
            return
        if not self._context.journal.accepts():
            if self._give_up_at is not None:
                self._give_up_at = now + MAX_FINAL_SCAN_S
            return
        if self._give_up_at is None:
            self._give_up_at = now + MAX_FINAL_SCAN_S
            self._hypertune.look(self._findings.take, anyway=True)
            self._findings.flush()
            self._inspect = self._looks.look(float("inf"))
        over = self._slice(now)
        self._stat_at = self._look_at = now
        if now >= self._give_up_at and not over:
            self._findings.note(
                "the service stopped reading the program's metrics "
                f"{MAX_FINAL_SCAN_S:g} s after the program's end"
            )
        if over or self._findings.full or now >= self._give_up_at:
            self._inspect = None
            self._concluded = True
            self._looks.note_unwritten()
            self._findings.conclude()

    def _go_on(self, now: float) -> None:
        if self._inspect is None:
            self._inspect, self._spent_s = self._looks.look(SCAN_BYTES), 0.0
        over = self._slice(now)
        end = self._context.monotonic()
        self._spent_s += end - now
        if over:
            self._inspect = None
            self._look_at = end + min(max(POLL_INTERVAL_S, self._spent_s * _REST), MAX_BACKOFF_S)
        else:
            self._look_at = end + (end - now) * _ENTRIES_PER_STEP

    def _slice(self, now: float) -> bool:
        """Continues the scan for a while; returns whether it is complete."""
        if self._inspect is None:
            return True
        for _ in self._inspect:
            if self._context.monotonic() - now >= _SLICE_S or not self._context.journal.accepts():
                return False
        return True
