"""Writes metrics as records of the journal."""

from __future__ import annotations

from footplate.protocol.reports import Measurement

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.replica.journal import Journal

MOST_MEASUREMENTS = 100_000
"""The limit for one start; the server keeps no more of a trial."""
MOST_TAGS = 200
LONGEST_TAG = 256
"""The limit in characters for those that nobody asked for; the rest is cut off."""
LONGEST_WANTED = 4096
"""The server takes no measurement of a longer tag."""
_MOST_NOTES = 10
_MOST_STEPS = 1 << 53
_LATEST = 253402300799.0
_INFINITY = float("inf")


class MetricRecords:
    """The journal's records of measurements. It gets measurements of the ``wanted`` tags; other
    tags only by name.
    """

    def __init__(self, journal: Journal, wanted: Sequence[str]) -> None:
        self.wanted = frozenset(tag for tag in wanted if len(tag) <= LONGEST_WANTED)
        self.matched = False
        """Whether one of them was found."""
        self._journal = journal
        self._left = MOST_MEASUREMENTS
        self._notes_left = _MOST_NOTES
        self._seen: set[str] = set()
        self._held: list[Measurement] = []

    @property
    def full(self) -> bool:
        """Says whether no more measurements are taken."""
        return self._left <= 0

    def take(self, tag: str, step: int, value: float, time: float, source: str) -> None:
        """Takes a measurement; steps and times that can't be encoded become 0."""
        if tag not in self.wanted:
            if not self.matched and len(self._seen) < MOST_TAGS:
                self._seen.add(tag[:LONGEST_TAG])
            return
        self.matched = True
        self._seen.clear()
        if self.full:
            return
        self._left -= 1
        self._held.append(
            Measurement(
                time if 0 <= time <= _LATEST else 0.0,
                tag,
                min(max(step, 0), _MOST_STEPS),
                _encode(value),
                source,
            )
        )

    def flush(self) -> None:
        """Reports the measurements taken so far."""
        held, self._held = self._held, []
        self._journal.metrics(held)
        if held and self.full:
            self.note(
                f"the program wrote {MOST_MEASUREMENTS} measurements, which is the limit: the "
                "service reads no more"
            )

    def note(self, message: str) -> None:
        """Writes an event for the user, up to a limited number."""
        if self._notes_left:
            self._notes_left -= 1
            self._journal.event("METRICS", message)

    def conclude(self) -> None:
        """Reports the tags that were seen if none matched, now that nothing more will be found."""
        if not self.matched:
            self._journal.tags(sorted(self._seen))


def _encode(value: float) -> float | str:
    """Returns the number in a form for JSON; NaN and infinities become words."""
    if value != value:
        return "NaN"
    if value in (_INFINITY, -_INFINITY):
        return "Infinity" if value > 0 else "-Infinity"
    return value
