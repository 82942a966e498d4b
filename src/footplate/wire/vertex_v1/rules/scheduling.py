"""Rules for time limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.wire.durations import check_limit, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.errors import Violation
    from footplate.wire.vertex_v1.models import Scheduling


def check_scheduling(scheduling: Scheduling, at: str) -> Iterator[Violation]:
    """To wait for 0s is to wait for ever."""
    timeout, waiting = scheduling.timeout, scheduling.max_wait_duration
    if timeout:
        yield from check_limit(timeout, f"{at}.timeout")
    if waiting and seconds(waiting) != 0:
        yield from check_limit(waiting, f"{at}.maxWaitDuration")
