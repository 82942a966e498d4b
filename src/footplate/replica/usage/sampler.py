"""Takes usage samples while the program runs."""

from __future__ import annotations

import time

from footplate.replica.isolation.spawn import SpawnFailed
from footplate.replica.phase import NEVER
from footplate.replica.usage import gpus, reducer_stats
from footplate.replica.usage.idle import IdleTracker
from footplate.replica.usage.meter import Meter

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Sequence

    from footplate.replica.context import Context
    from footplate.replica.program_output import Stream

MOST_FAILURES = 3
"""So often in a row nvidia-smi may give no answer before it isn't asked any more."""


class Sampler:
    """Each sample is a record of the journal; none is made while that takes no output.

    ``output`` is what the program prints; every turn shows whether it has.
    """

    def __init__(self, context: Context, output: Sequence[Stream]) -> None:
        self._desk = context
        self._output = output
        self._every_s = context.seconds("usage_s", 0.0)
        self._began = context.monotonic()
        self._due = self._began + self._every_s if self._every_s > 0 else NEVER
        self._read_bytes = 0
        self._gpus = gpus.list_gpus(context.task) if self._every_s > 0 else []
        self._failures = 0
        self._query: gpus.Query | None = None
        self._waiting: dict[str, Any] | None = None
        """A sample that waits for what the GPUs do."""
        places = [*filter(None, [context.workdir]), *(context.task.get("directories") or ())]
        self._silence = IdleTracker(
            context.home.metrics,
            places,
            context.seconds("hang_s", 0.0),
            context.monotonic,
            time.time,
        )
        self._meter = self._make_meter()
        self._reducer = reducer_stats.find(context.task, context.home.work)
        self.peak_bytes = 0
        """The most memory that was seen in use."""

    def _make_meter(self) -> Meter | None:
        context = self._desk
        if self._every_s <= 0 or context.containment is None or context.child is None:
            return None
        return Meter(context.containment, context.child, first=context.started == 1)

    @property
    def streams(self) -> tuple[Stream, ...]:
        return () if self._query is None else (self._query.stream,)

    def deadline(self) -> float:
        return self._due if self._waiting is None or self._query is None else self._query.until

    def advance(self) -> None:
        if self._meter is None:
            return
        now = self._desk.monotonic()
        self._listen()
        if self._query is not None:
            self._ask_on(self._query, now)
        if self._waiting is None and now >= self._due:
            self._due = now + self._every_s
            self._take(self._meter, now)

    def close(self) -> None:
        """The program has ended: the last sample says what it used in all."""
        if self._meter is None:
            return
        if self._query is not None:
            self._query.close()
        self._listen()
        if self._waiting is None:
            self._waiting = self._sample(self._meter)
            self._waiting.pop("memory_bytes", None)
        self._notify()

    def _listen(self) -> None:
        read_bytes = sum(stream.read_bytes for stream in self._output)
        if read_bytes != self._read_bytes or not self._desk.journal.accepts():
            self._read_bytes = read_bytes
            self._silence.end()

    def _take(self, meter: Meter, now: float) -> None:
        self._waiting = self._sample(meter)
        if not self._gpus or self._query is not None:
            self._notify()
            return
        try:
            self._query = gpus.Query(self._gpus, self._desk.host, now + gpus.TIMEOUT_S)
        except (OSError, SpawnFailed):
            self._fail()
            self._notify()

    def _sample(self, meter: Meter) -> dict[str, Any]:
        passed_s = self._desk.monotonic() - self._began
        quiet_s = self._silence.seconds()
        used = meter.read()
        self.peak_bytes = max(self.peak_bytes, used.get("memory_bytes") or 0)
        if self._reducer:
            used.update(reducer_stats.read(self._reducer))
        return {"s": round(passed_s, 3), **used, "quiet_s": round(quiet_s, 3)}

    def _ask_on(self, query: gpus.Query, now: float) -> None:
        """It is asked no further once it has answered, or its time is over."""
        if query.stream.open and now < query.until:
            return
        query.close()
        found = query.answer()
        if self._waiting is not None:
            if found:
                self._waiting["gpus"] = found
                self._failures = 0
            else:
                self._fail()
            self._notify()
        if query.reap():
            self._query = None

    def _fail(self) -> None:
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self._gpus = []

    def _notify(self) -> None:
        sample, self._waiting = self._waiting, None
        if sample is not None and self._desk.journal.accepts():
            self._desk.journal.usage(sample)
