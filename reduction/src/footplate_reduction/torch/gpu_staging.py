"""Stages GPU tensors through pinned memory while the GPU goes on computing.

Written for the rules of CUDA's streams as PyTorch gives them; what of it the tests can run without
a GPU is ``pinned_memory``.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch

from footplate_reduction.torch.pinned_memory import PinnedPool
from footplate_reduction.torch.vectors import HostVector, flat, memory, unflatten

if TYPE_CHECKING:
    from typing import Callable, Sequence

    from footplate_reduction.frames import WireType
    from footplate_reduction.torch.transfer_thread import Vector

    Tensor = Any


def vector_of(tensors: Sequence[Tensor], held: WireType) -> Vector:
    """Returns a vector of tensors of one type and device, after their current stream's work."""
    device = tensors[0].device
    if device.type == "cpu":
        return HostVector(tensors, held)
    return CudaVector(tensors, held, _stage(device))


class GpuStaging:
    """The stream of one GPU that runs all its copies in order, and the buffers that they use."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.stream = torch.cuda.Stream(device)
        self.pool = PinnedPool(_make_pinned)


@functools.lru_cache(maxsize=None)
def _stage(device: Any) -> GpuStaging:
    return GpuStaging(device)


def _make_pinned(nbytes: int) -> Tensor:
    return torch.empty(nbytes, dtype=torch.uint8, pin_memory=True)


class CudaVector:
    """A vector of tensors on a GPU. Its copy to the host starts at once, after the current stream's
    work.

    The vector keeps ``tensors`` until it is delivered. What it allocates on the GPU is used and
    freed on the staging stream only.
    """

    def __init__(self, tensors: Sequence[Tensor], held: WireType, stage: GpuStaging) -> None:
        self.held = held
        self._tensors = tensors
        self._stage = stage
        stage.stream.wait_stream(torch.cuda.current_stream(stage.device))
        with torch.cuda.stream(stage.stream):
            self._flat = flat(tensors)
            self._nbytes = self._flat.numel() * self._flat.element_size()
            self._pinned = stage.pool.take(self._nbytes)
            self._host = self._pinned[: self._nbytes].view(self._flat.dtype)
            self._host.copy_(self._flat, non_blocking=True)
            self._copied = stage.stream.record_event()
        for each in tensors:  # their memory must not be given away while this stream uses it
            each.record_stream(stage.stream)

    def settle(self) -> memoryview:
        self._copied.synchronize()
        return memory(self._host)

    def deliver(self, done: Callable[[], None]) -> None:
        """Copies the result back to the tensors, and calls ``done`` on the staging stream.

        A future that is set there makes the streams of its waiters wait for the copies, but no
        thread.
        """
        with torch.cuda.stream(self._stage.stream):
            self._flat.copy_(self._host, non_blocking=True)
            unflatten(self._flat, self._tensors)
            self._stage.pool.give(self._pinned, self._nbytes, self._stage.stream.record_event())
            done()
