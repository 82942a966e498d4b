"""Tensors as contiguous vectors for the reducers."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from footplate_reduction.frames import WireType

if TYPE_CHECKING:
    from typing import Callable, Sequence

    Tensor = Any

_TYPES = {
    torch.float32: WireType.FLOAT32,
    torch.float16: WireType.FLOAT16,
    torch.bfloat16: WireType.BFLOAT16,
    torch.float64: WireType.FLOAT64,
}


def wire_type(tensor: Tensor) -> WireType | None:
    """Returns the type of the tensor's elements; None if reducers can't take the tensor.

    They can't if it has another type, or is sparse or empty.
    """
    if tensor.layout is not torch.strided or tensor.numel() == 0:
        return None
    if tensor.device.type not in ("cpu", "cuda"):
        return None
    return _TYPES.get(tensor.dtype)


def flat(tensors: Sequence[Tensor]) -> Tensor:
    """Returns the tensors' elements in one contiguous tensor; no copy if a single one is contiguous
    already.
    """
    if len(tensors) == 1:
        return tensors[0].detach().contiguous().view(-1)
    return torch.cat([each.detach().reshape(-1) for each in tensors])


def unflatten(result: Tensor, tensors: Sequence[Tensor]) -> None:
    """Copies a tensor made by ``flat``, with changed elements, back into ``tensors``."""
    begin = 0
    for each in tensors:
        part = result[begin : begin + each.numel()]
        begin += each.numel()
        if part.data_ptr() != each.data_ptr():
            each.detach().copy_(part.view(each.shape))


def memory(tensor: Tensor) -> memoryview:
    """Returns the tensor's bytes, whatever its type.

    The tensor must be contiguous, on the host, and outlive the result.
    """
    nbytes = tensor.numel() * tensor.element_size()
    address = (ctypes.c_ubyte * nbytes).from_address(tensor.data_ptr())
    return np.ctypeslib.as_array(address).data


class HostVector:
    """A vector of tensors on the host. One contiguous tensor is changed in place."""

    def __init__(self, tensors: Sequence[Tensor], held: WireType) -> None:
        self.held = held
        self._tensors = tensors
        self._flat = flat(tensors)

    def settle(self) -> memoryview:
        return memory(self._flat)

    def deliver(self, done: Callable[[], None]) -> None:
        unflatten(self._flat, self._tensors)
        done()
