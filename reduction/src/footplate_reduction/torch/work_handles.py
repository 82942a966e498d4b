"""Work and Future objects of an all-reduce, the two forms in which PyTorch waits."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch._C._distributed_c10d import Work


class PendingResult:
    """The outcome of an all-reduce. ``settle`` is called once for each of the ``parts``.

    The last of these calls completes the outcome.
    """

    def __init__(self, result: Any, device: Any, parts: int = 1) -> None:
        devices = [device] if device.type == "cuda" else None
        self.error: Exception | None = None
        self.known = threading.Event()
        self._result = result
        self._parts = parts
        self._settled = torch.futures.Future(devices=devices)
        self.future = self._settled.then(_result_of)
        """The future of the result. An exception that were its value would reach
        DistributedDataParallel as a tensor that isn't one; raised by a callback, it is raised by
        ``backward``.
        """

    def settle(self, error: Exception | None) -> None:
        self.error = self.error or error
        self._parts -= 1
        if not self._parts:
            self._settled.set_result(self._result if self.error is None else self.error)
            self.known.set()


class Reduction(Work):  # type: ignore[misc]  # torch has no types here
    """An all-reduce under way: the handle that ``all_reduce(async_op=True)`` returns."""

    def __init__(self, outcome: PendingResult) -> None:
        super().__init__()
        self._outcome = outcome

    def wait(self, timeout: Any = None) -> bool:
        """Waits for the result; raises the ReductionError. ``timeout``: a timedelta, 0: none."""
        seconds = timeout.total_seconds() if timeout else None
        if not self._outcome.known.wait(seconds or None):
            raise RuntimeError(f"an all-reduce by reducers took longer than {seconds} s")
        if self._outcome.error is not None:
            raise self._outcome.error
        self._outcome.future.wait()  # has the current stream of a GPU wait for the result
        return True

    def is_completed(self) -> bool:
        return self._outcome.known.is_set()

    def is_success(self) -> bool:
        return self.is_completed() and self._outcome.error is None

    def exception(self) -> Exception | None:
        return self._outcome.error

    def get_future(self) -> Any:
        return self._outcome.future

    def result(self) -> Any:
        self.wait()
        return self._outcome.future.value()


def _result_of(settled: Any) -> Any:
    value = settled.value()
    if isinstance(value, Exception):
        raise value
    return value
