"""The records that a replica reports: states, events, lines, metrics, usage, exit."""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii as quote

from footplate.replica.program_output import Progress

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.protocol.reports import Measurement, UsageSample
    from footplate.replica.spool import Spool

RETRY_S = 1.0


class Journal:
    """Puts records into the spool in the order in which they are made, and loses none.

    At the spool's bound it accepts no more output until half of it is delivered, nor does it
    while the disk is full; then the little that is already read is held here, and tried again.
    An event reports each of them the first time that it happens.
    """

    def __init__(self, spool: Spool, limit_bytes: int, wall: Callable[[], float]) -> None:
        self._spool = spool
        self._limit_bytes = limit_bytes
        self._wall = wall
        self._held: list[bytes] = []
        self._retry_at = 0.0
        self._closed = False
        self._reported: set[str] = set()
        self._make_room: Callable[[], bool] | None = None

    def end(self, make_room: Callable[[], bool]) -> None:
        """Notes that the program is dead. On a full disk the remaining records may ask for room.

        ``make_room`` returns whether it found some; it is asked once a second at most.
        """
        self._make_room = make_room
        self._retry_at = 0.0

    @property
    def held(self) -> bool:
        """Says whether there are records that could not be written to the disk."""
        return bool(self._held)

    def accepts(self) -> bool:
        """Returns whether more output may be read."""
        if self._held:
            return False
        if self._closed:
            self._closed = self._spool.full or (
                self._spool.waiting > 0 and self._spool.size_bytes > self._limit_bytes // 2
            )
        elif self._spool.full:
            self._closed = True
            self._notify(
                "bound",
                (
                    f"{self._spool.size_bytes} bytes of output wait for the server, which is "
                    "the limit. The supervisor holds the program's output back until it has "
                    "sent half of these bytes"
                ),
            )
        return not self._closed

    def deadline(self) -> float:
        """Returns the time for the next ``retry``."""
        return self._retry_at if self._held else float("inf")

    def state(self, phase: str, **fields: object) -> None:
        self._add([self._body({"k": "state", "phase": phase, **fields})])

    def event(self, kind: str, message: str) -> None:
        self._add([self._body({"k": "event", "kind": kind, "m": message})])

    def usage(self, sample: UsageSample) -> None:
        self._add([self._body({"k": "usage", **sample.encode()})])

    def metrics(self, measurements: list[Measurement]) -> None:
        """Adds measurements, each with its own time."""
        if measurements:
            self._add([self._body({"k": "metric", **each.encode()}) for each in measurements])

    def tags(self, tags: list[str]) -> None:
        self._add([self._body({"k": "tags", "tags": tags})])

    def lines(self, stream: str, lines: list[str]) -> None:
        """Adds lines as the other methods add records, at a tenth of the cost: there may be
        millions.
        """
        if lines:
            head = '"t":%.6f,"k":"line","stream":"%s","m":' % (self._wall(), stream)
            bodies = [(head + quote(line) + "}").encode("ascii") for line in lines]
            if Progress in map(type, lines):  # few chunks have any
                known, told = b'"stream":"%s"' % stream.encode(), b'"stream":"progress"'
                for index, line in enumerate(lines):
                    if isinstance(line, Progress):
                        bodies[index] = bodies[index].replace(known, told, 1)
            self._add(bodies)

    def exit(self, kind: str, code: int, cause: str, advice: str = "") -> None:
        fields = {"kind": kind, "code": code, "cause": cause}
        self._add([self._body({"k": "exit", **fields, **({"advice": advice} if advice else {})})])

    def retry(self, now: float) -> None:
        """Tries again to write to the disk, if it is time to."""
        if self._held and now >= self._retry_at:
            self._retry_at = now + RETRY_S
            held, self._held = self._held, []
            self._add(held)

    def _body(self, record: dict[str, object]) -> bytes:
        return json.dumps({"t": round(self._wall(), 6), **record})[1:].encode("ascii")

    def _add(self, bodies: list[bytes]) -> None:
        if self._held:
            self._held += bodies
            return
        try:
            self._append(bodies)
        except OSError as error:
            self._notify(
                "disk",
                (
                    f"the supervisor can't store the program's output ({error.strerror}), and "
                    "holds it back until the disk works again"
                ),
            )
            self._held = bodies

    def _append(self, bodies: list[bytes]) -> None:
        """Appends records to the spool. Raises OSError if the disk takes none."""
        try:
            self._spool.append(bodies)
        except OSError:
            if self._make_room is None or not self._make_room():
                raise
            self._spool.append(bodies)

    def _notify(self, reason: str, message: str) -> None:
        """Reports that output is held back, once for each reason."""
        if reason not in self._reported:
            event = self._body({"k": "event", "kind": "OUTPUT_HELD", "m": message})
            if self._spool.append_urgent(event):
                self._reported.add(reason)
