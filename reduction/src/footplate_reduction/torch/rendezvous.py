"""Rendezvous of a process group: its workers agree on their reducers and on the group's name."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from footplate_reduction.errors import ReductionError

if TYPE_CHECKING:
    from typing import Sequence


class WorkerInfo(NamedTuple):
    """The facts that one worker shares with the others of its group."""

    reducers: str
    """The reducers as the environment has them; empty: none."""
    name: str
    """That the group gets from rank 0. No other group, of this start or another, has it."""


def look(reducers: str) -> WorkerInfo:
    return WorkerInfo(reducers, secrets.token_hex(8))


def agree(found: Sequence[WorkerInfo]) -> str | None:
    """Returns the group's name; None if no worker has reducers. ``found`` is in rank order.

    Raises ReductionError, for all workers alike, if some have other reducers than rank 0.
    """
    first = found[0].reducers
    for rank, each in enumerate(found):
        if each.reducers != first:
            message = "all workers need the same FOOTPLATE_REDUCERS: rank 0 has {}, rank {} has {}"
            raise ReductionError(message.format(_shown(first), rank, _shown(each.reducers)))
    return found[0].name if first else None


def meet(store: Any, rank: int, world: int, mine: WorkerInfo) -> list[WorkerInfo]:
    """Returns the facts of all workers, exchanged through a store of torch.distributed.

    Each worker reads from rank 0 alone: in a large group it would overload the store if each read
    from all.
    """
    store.set(f"found/{rank}", json.dumps(mine))
    if rank == 0:
        each = [json.loads(store.get(f"found/{one}")) for one in range(world)]
        store.set("found", json.dumps(each))
    return [WorkerInfo(*one) for one in json.loads(store.get("found"))]


def missing(instead: str) -> str:
    """Returns the message for the case that no worker has reducers."""
    return (
        f"FOOTPLATE_REDUCERS is not set: without reducers {instead} all-reduces. "
        "A job gets reducers by a worker pool 2 with the Reduction Server's image. Elsewhere, "
        "start `footplate-reduction reducer` on some machines, and set FOOTPLATE_REDUCERS="
        "host:port,host:port for all workers."
    )


def _shown(reducers: str) -> str:
    return repr(reducers) if reducers else "none"
