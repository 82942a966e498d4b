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

    All workers of the model's process group must call it once, before the first step. ``wire`` is
    the type as which float32 gradients travel; ``bfloat16`` and ``float16`` halve the bytes, and
    round. If no worker has the addresses of reducers, PyTorch's own all-reduce averages. Raises
    ReductionError if workers have different addresses, or not all of them connected.
    """
    model.register_comm_hook(*hook(model.process_group, wire))


def hook(group: Any = None, wire: str | None = None) -> tuple[Any, Callable[..., Any]]:
    """Returns the arguments for ``register_comm_hook``. ``attach`` uses its model's group."""
    from footplate_reduction.torch.ddp_hook import make_hook

    return make_hook(group, wire)


def register() -> None:
    """Registers the backend with ``init_process_group``. Repeated calls do nothing.

    Never raises, since PyTorch calls this while it is imported.
    """
    import torch.distributed as dist

    if not dist.is_available() or not _takes_devices(dist.Backend):
        return
    if "footplate" not in dist.Backend.backend_list:
        make: Any = dist.Backend.register_backend
        make("footplate", _make_group, extended_api=True, devices=["cpu", "cuda"])


def _takes_devices(backend: Any) -> bool:
    """Returns whether this PyTorch (2.1 or later) can register backends for devices."""
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
