"""Calls at the same moment, for contracts of what many may do at once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from footplate.domain.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def together(calls: Sequence[Callable[[], None]]) -> list[ServiceError]:
    """Run all at once; the errors that they met."""
    errors: list[ServiceError] = []
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], None]) -> None:
        barrier.wait()
        try:
            call()
        except ServiceError as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors
