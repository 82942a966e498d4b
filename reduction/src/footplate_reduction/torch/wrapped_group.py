"""The PyTorch process group that handles every collective but all-reduce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

if TYPE_CHECKING:
    from typing import Callable

_COLLECTIVES = (
    "_allgather_base",
    "_reduce_scatter_base",
    "all_gather_single",
    "all_gather_single_coalesced",
    "all_to_all_single",
    "allgather",
    "allgather_coalesced",
    "allgather_into_tensor_coalesced",
    "alltoall",
    "alltoall_base",
    "barrier",
    "broadcast",
    "gather",
    "monitored_barrier",
    "recv",
    "recv_anysource",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_single_coalesced",
    "reduce_scatter_tensor_coalesced",
    "scatter",
    "send",
)
"""The collectives of all versions of PyTorch."""


def make_own(options: Any) -> Any:
    """Creates a group with gloo for the host's tensors and, if available, NCCL for GPUs'."""
    rank, size = options.group_rank, options.group_size
    own = dist.ProcessGroup(options.store, rank, size)
    kinds = dist.ProcessGroup.BackendType
    store = dist.PrefixStore("gloo/", options.store)
    gloo = dist.ProcessGroupGloo(store, rank, size, timeout=options.timeout)
    _add(own, "cpu", kinds.GLOO, gloo)
    if torch.cuda.is_available() and dist.is_nccl_available():
        chosen = dist.ProcessGroupNCCL.Options()
        chosen._timeout = options.timeout
        store = dist.PrefixStore("nccl/", options.store)
        _add(own, "cuda", kinds.NCCL, dist.ProcessGroupNCCL(store, rank, size, chosen))
    return own


def share_backends(own: Any, group: Any) -> None:
    """Makes PyTorch find the backends of ``own`` in ``group``, and shut them down with it."""
    kinds = {"cpu": dist.ProcessGroup.BackendType.GLOO, "cuda": dist.ProcessGroup.BackendType.NCCL}
    for device in own._device_types:
        kind = kinds[device.type]
        group._set_default_backend(kind)
        group._register_backend(device, kind, own._get_backend(device))


def forwarded(group: type[Any], own: str) -> None:
    """Makes all collectives that the class inherits call those of its attribute ``own``.

    Inherited ones would hold Python's lock while they wait for gloo's threads, which need that lock
    to free a tensor: PyTorch looks for a Python method, finds none, and doesn't release the lock.
    """
    for name in _COLLECTIVES:
        if hasattr(dist.ProcessGroup, name):
            setattr(group, name, _forward(name, own))


def _forward(name: str, own: str) -> Callable[..., Any]:
    def collective(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(getattr(self, own), name)(*args, **options)

    collective.__name__ = name
    return collective


def _add(own: Any, device: str, kind: Any, backend: Any) -> None:
    backend._set_sequence_number_for_group()
    own._set_default_backend(kind)
    own._register_backend(torch.device(device), kind, backend)
