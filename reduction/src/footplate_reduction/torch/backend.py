"""The backend ``footplate`` of torch.distributed."""

from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from footplate_reduction.client import connect
from footplate_reduction.frames import Op
from footplate_reduction.settings import reducers_of
from footplate_reduction.torch.gpu_staging import vector_of
from footplate_reduction.torch.rendezvous import agree, look, meet, missing
from footplate_reduction.torch.transfer_thread import TransferThread
from footplate_reduction.torch.vectors import wire_type
from footplate_reduction.torch.work_handles import PendingResult, Reduction

if TYPE_CHECKING:
    from typing import Callable, Sequence

    from footplate_reduction.frames import WireType

    Tensor = Any


# The PyTorch process group that handles every collective but all-reduce.

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


_OPS = ((dist.ReduceOp.SUM, Op.SUM), (dist.ReduceOp.AVG, Op.AVERAGE))


class FootplateGroup(dist.ProcessGroup):  # type: ignore[misc]  # torch has no types here
    """A process group whose sums and averages of floats are made by reducers.

    PyTorch's own backends make all other collectives: gloo, and NCCL where there is CUDA. The
    default group connects to its reducers when it is created; other groups connect at their first
    all-reduce, since programs create many that never have one.
    """

    def __init__(self, options: Any) -> None:
        super().__init__(options.group_rank, options.group_size)
        self._rank = options.group_rank
        self._world = options.group_size
        self._connecting = threading.Lock()
        self._relay: TransferThread | None = None
        self._destroyed = False
        self._own = make_own(options)
        share_backends(self._own, self)
        self._name = self._agree(dist.PrefixStore("reducers/", options.store))
        if not options.global_ranks_in_group:
            self.relay()

    def getBackendName(self) -> str:  # noqa: N802  # PyTorch's name
        return "footplate"

    def relay(self) -> TransferThread | None:
        """Connects to the group's reducers, and blocks until all workers have; returns None if the
        group has no reducers.
        """
        with self._connecting:
            if self._relay is None and self._name is not None and not self._destroyed:
                self._relay = TransferThread(
                    connect(rank=self._rank, world=self._world, group=self._name)
                )
            return self._relay

    def allreduce(
        self, tensors: Any, opts: Any = None, timeout: Any = None, *, op: Any = None
    ) -> Any:
        """Starts an all-reduce, by reducers if they can make it.

        Takes arguments in any of PyTorch's three ways: ``opts`` may be options or an op.
        """
        tensors, opts = _as_list(tensors), _as_options(opts if op is None else op, timeout)
        return self._reduce(tensors, opts) or self._own.allreduce(tensors, opts)

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Any:
        opts = dist.AllreduceCoalescedOptions() if opts is None else opts
        return self._reduce(tensors, opts) or self._own.allreduce_coalesced(tensors, opts)

    def shutdown(self) -> None:
        self._leave(None)
        if hasattr(dist.ProcessGroup, "shutdown"):  # PyTorch >= 2.6
            super().shutdown()

    def abort(self) -> None:
        self._leave("the worker's process group was aborted")
        super().abort()

    def _leave(self, why: str | None) -> None:
        with self._connecting:
            self._destroyed = True
            if self._relay is not None:
                self._relay.close(why)

    def _agree(self, store: Any) -> str | None:
        """Returns the group's name; None if no worker has reducers, or there is only one worker."""
        if self._world == 1:
            return None
        mine = look(reducers_of(os.environ))
        name = agree(meet(store, self._rank, self._world, mine))
        if name is None and self._rank == 0:
            warnings.warn(missing("gloo or NCCL"), stacklevel=2)
        return name

    def _reduce(self, tensors: Sequence[Tensor], opts: Any) -> Reduction | None:
        """Starts a sum by reducers; None if they can't. Tensors of one type form one vector."""
        op = _op_of(opts)
        by_type = _by_type(tensors)
        relay = self.relay() if op is not None and by_type else None
        if relay is None or op is None:
            return None
        outcome = PendingResult(tensors, tensors[0].device, len(by_type))
        for held, alike in by_type.items():
            relay.send(vector_of(alike, held), op, None, outcome.settle)
        return Reduction(outcome)


forwarded(FootplateGroup, "_own")


def _by_type(tensors: Sequence[Tensor]) -> dict[WireType, list[Tensor]]:
    """Returns the tensors by their type; {} if reducers can't take all of them."""
    by_type: dict[WireType, list[Tensor]] = {}
    for each in tensors:
        held = wire_type(each)
        if held is None or each.device != tensors[0].device:
            return {}
        by_type.setdefault(held, []).append(each)
    return by_type


def _op_of(opts: Any) -> Op | None:
    """Returns the reducers' op for PyTorch's; None if they don't have it.

    Compares one by one: PyTorch's ops are equal to each other, but ``in`` and dictionaries don't
    find them.
    """
    for theirs, ours in _OPS:
        if opts.reduceOp == theirs:
            return ours
    return None


def _as_list(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)


def _as_options(given: Any, timeout: Any) -> Any:
    if given is not None and hasattr(given, "reduceOp"):
        return given
    made = dist.AllreduceOptions()
    made.reduceOp = dist.ReduceOp(dist.ReduceOp.SUM if given is None else given)
    if timeout is not None:
        made.timeout = timeout
    return made
