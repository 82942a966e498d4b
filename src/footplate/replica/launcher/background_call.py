"""Calls that may block, each in a thread of its own, and how they wake the launcher's loop.

Threads instead of asyncio, whose import alone takes as long as all else that a launcher does until
its replica starts.
"""

from __future__ import annotations

import os
import select
import threading

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable


class Wake:
    """Wakes the loop: ``set`` may be called by any thread, and ``writing`` is a descriptor that
    signals may write to.
    """

    def __init__(self) -> None:
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self.writing, False)

    def set(self) -> None:
        try:
            os.write(self.writing, b"\0")
        except BlockingIOError:  # it is full, and so wakes the loop
            return

    def wait(self, timeout_s: float) -> None:
        """Waits until it was set since the last call, or for a while."""
        select.select([self._reading], [], [], timeout_s)
        try:
            os.read(self._reading, 1 << 16)
        except BlockingIOError:
            return


class NoThread(OSError):
    """Says that as many threads run as may: the same call may succeed later."""


class BackgroundCall:
    """A call in a thread of its own, which wakes the loop at its end; without a thread it is done
    at once, with NoThread as its error.
    """

    def __init__(self, call: Callable[[], Any], wake: Wake) -> None:
        self._call = call
        self._wake = wake
        self._value: Any = None
        self._error: BaseException | None = None
        self.done = False
        try:
            threading.Thread(target=self._run, daemon=True).start()
        except RuntimeError as error:  # a program's threads count, too: the launcher must go on
            self._error = NoThread(str(error))
            self.done = True
            self._wake.set()

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # it is the loop's, as ``result`` raises it
            self._error = error
        self.done = True
        self._wake.set()

    def result(self) -> Any:
        """Returns what a call that is done has returned, or raises what it has raised."""
        if self._error is not None:
            raise self._error
        return self._value
