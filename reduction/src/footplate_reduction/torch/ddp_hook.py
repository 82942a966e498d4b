"""The communication hook for DistributedDataParallel."""

from __future__ import annotations

import os
import warnings
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

from footplate_reduction.client import connect
from footplate_reduction.frames import Op, WireType
from footplate_reduction.settings import reducers_of
from footplate_reduction.torch.backend import FootplateGroup
from footplate_reduction.torch.gpu_staging import vector_of
from footplate_reduction.torch.rendezvous import WorkerInfo, agree, look, missing
from footplate_reduction.torch.transfer_thread import TransferThread
from footplate_reduction.torch.vectors import wire_type
from footplate_reduction.torch.work_handles import PendingResult

if TYPE_CHECKING:
    from typing import Callable

_WIRES = {
    "float32": WireType.FLOAT32,
    "float16": WireType.FLOAT16,
    "bfloat16": WireType.BFLOAT16,
}
_relays: weakref.WeakKeyDictionary[Any, TransferThread] = weakref.WeakKeyDictionary()
"""Threads by process groups of other backends: all models of a group share one."""


class BucketState(NamedTuple):
    group: Any
    relay: TransferThread
    wire: WireType | None
    """The type as which gradients of float32 travel; None: as the environment says."""


def make_hook(group: Any, wire: str | None) -> tuple[Any, Callable[..., Any]]:
    """Implements ``footplate_reduction.torch.hook``."""
    group = dist.group.WORLD if group is None else group
    chosen = _wire_of(wire)
    relay = group.relay() if isinstance(group, FootplateGroup) else _relay_of(group)
    if relay is None:
        return group, allreduce_hook
    return BucketState(group, relay, chosen), average_bucket


def average_bucket(state: BucketState, bucket: Any) -> Any:
    """Returns a future of a bucket's gradients averaged over all ranks, in the same buffer."""
    gradients = bucket.buffer()
    held = wire_type(gradients)
    if held is None:
        return allreduce_hook(state.group, bucket)
    outcome = PendingResult(gradients, gradients.device)
    wire = state.wire if held is WireType.FLOAT32 else None
    state.relay.send(vector_of([gradients], held), Op.AVERAGE, wire, outcome.settle)
    return outcome.future


# DistributedDataParallel compares annotations with its classes, and takes these for wrong ones.
average_bucket.__annotations__ = {}


def _wire_of(name: str | None) -> WireType | None:
    if name is None or name in _WIRES:
        return _WIRES[name] if name else None
    raise ValueError("wire is {!r}; it may be {}, or None".format(name, ", ".join(_WIRES)))


def _relay_of(group: Any) -> TransferThread | None:
    relay = _relays.get(group)
    if relay is None:
        rank, world = dist.get_rank(group), dist.get_world_size(group)
        name = None if world == 1 else _agree(group, rank, world)
        if name is None:
            return None
        relay = _relays[group] = TransferThread(connect(rank=rank, world=world, group=name))
        weakref.finalize(group, relay.close).atexit = False  # Relay does that, and knows why
    return relay


def _agree(group: Any, rank: int, world: int) -> str | None:
    found: list[Any] = [None] * world
    dist.all_gather_object(found, tuple(look(reducers_of(os.environ))), group=group)
    name = agree([WorkerInfo(*each) for each in found])
    if name is None and rank == 0:
        warnings.warn(missing(dist.get_backend(group)), stacklevel=6)  # the caller of attach
    return name
