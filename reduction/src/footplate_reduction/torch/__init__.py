"""Reducers for PyTorch: a hook for DistributedDataParallel, and the backend ``footplate``.

    footplate_reduction.torch.attach(model)             # model is DistributedDataParallel
    torch.distributed.init_process_group("footplate")   # or: all of it, without another line

PyTorch 2.5 and later register the backend by themselves; else importing this module does.
"""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Any

from footplate_reduction.errors import ReductionError
from footplate_reduction.torch.transfer_thread import offloaded

if TYPE_CHECKING:
    from typing import Callable

__all__ = ["ReductionError", "attach", "hook", "offloaded", "register"]


def attach(model: Any, wire: str | None = None) -> None:
    """Makes reducers average the gradients of a DistributedDataParallel.

    All workers of the model's process group call it, once, before the first step. ``wire``: as
    what gradients of float32 travel; ``bfloat16`` and ``float16`` are half the bytes, and rounded.
    Where no worker has the addresses of reducers, PyTorch's own all-reduce averages.
    Raises ReductionError: workers have different addresses, or not all came.
    """
    model.register_comm_hook(*hook(model.process_group, wire))


def hook(group: Any = None, wire: str | None = None) -> tuple[Any, Callable[..., Any]]:
    """Returns what ``register_comm_hook`` takes; ``attach`` knows the group of its model."""
    from footplate_reduction.torch.ddp_hook import make_hook

    return make_hook(group, wire)


def register() -> None:
    """Makes the backend known to ``init_process_group``. Any number of times; never raises, since
    PyTorch calls it while it is imported.
    """
    import torch.distributed as dist

    if not dist.is_available() or not _takes_devices(dist.Backend):
        return
    if "footplate" not in dist.Backend.backend_list:
        make: Any = dist.Backend.register_backend
        make("footplate", _make_group, extended_api=True, devices=["cpu", "cuda"])


def _takes_devices(backend: Any) -> bool:
    """Returns whether others' backends can be registered for devices: from PyTorch 2.1 on."""
    return "devices" in inspect.signature(backend.register_backend).parameters


def _make_group(options: Any, _: Any = None) -> Any:
    import torch.distributed as dist

    if not hasattr(dist.ProcessGroup, "_set_default_backend"):
        raise ReductionError(
            "this PyTorch can't run the backend footplate: call init_process_group with gloo or "
            "nccl, and then footplate_reduction.torch.attach(model) with the "
            "DistributedDataParallel model"
        )
    from footplate_reduction.torch.backend import FootplateGroup

    return FootplateGroup(options)


with contextlib.suppress(ImportError):  # without PyTorch the backend is not needed
    register()
