"""What ranks run, with PyTorch. Each program returns what its rank has seen."""

from __future__ import annotations

import contextlib
import datetime
import gc
import hashlib
import os
import signal
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from footplate_reduction import torch as reducing

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float64": torch.float64,
}
_FEATURES = 6


@dataclass(frozen=True)
class Place:
    rank: int
    world: int
    folder: str

    @contextlib.contextmanager
    def group(self, backend: str, life: int = 0) -> Iterator[None]:
        torch.set_num_threads(1)
        dist.init_process_group(
            backend,
            init_method=f"file://{self.folder}/store-{life}",
            rank=self.rank,
            world_size=self.world,
            timeout=datetime.timedelta(seconds=120),
        )
        yield
        gc.collect()  # a model that is freed after its group may wait for gloo's threads for ever
        dist.destroy_process_group()


# Training ----------------------------------------------------------------------------------------


def train(
    place: Place,
    backend: str,
    *,
    hook: bool = False,
    wire: str | None = None,
    dtype: str = "float32",
    bucket_cap_mb: float = 0.01,
    steps: int = 20,
) -> dict[str, Any]:
    """Each rank has rows of its own; the target is a function that the model can learn."""
    with place.group(backend):
        model = _model(dtype, bucket_cap_mb)
        if hook:
            reducing.attach(model, wire)
        losses = _fit(model, place.rank, steps)
        weights, digest = _flat(model).tolist(), _digest(model)
        del model
        offloaded = reducing.offloaded()
    return {"losses": losses, "weights": weights, "digest": digest, "offloaded": offloaded}


def lose(place: Place, backend: str, *, how: str, hook: bool = False) -> dict[str, Any]:
    """The last rank leaves in the middle of the training; the others tell what they hear."""
    with place.group(backend):
        model = _model("float32", 0.01)
        if hook:
            reducing.attach(model)
        _fit(model, place.rank, 2)
        if place.rank == place.world - 1:
            _die(how)
        errors = []
        for _ in range(2):  # the second one starts in a group that has ended
            try:
                _fit(model, place.rank, 1)
            except RuntimeError as error:
                errors.append(str(error))
        del model
    return {"errors": errors}


def _die(how: str) -> None:
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    raise ZeroDivisionError("a bug of the program")


def lose_one_sum(place: Place) -> dict[str, Any]:
    with place.group("footplate"):
        if place.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            dist.all_reduce(torch.ones(3))
        except reducing.ReductionError as error:
            return {"culprit": error.culprit, "error": str(error)}
        return {}


def _model(dtype: str, bucket_cap_mb: float, **options: Any) -> Any:
    torch.manual_seed(7)
    layers = nn.Sequential(nn.Linear(_FEATURES, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
    model = nn.Sequential(layers, nn.Linear(64, 1)).to(_TYPES[dtype])
    return DistributedDataParallel(model, bucket_cap_mb=bucket_cap_mb, **options)


def _fit(model: Any, rank: int, steps: int) -> list[float]:
    dtype = next(model.parameters()).dtype
    random = torch.Generator().manual_seed(100 + rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(steps):
        rows = torch.randn(64, _FEATURES, generator=random).to(dtype)
        target = rows.sum(1, keepdim=True) / 2
        loss = nn.functional.mse_loss(model(rows), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _flat(model: Any) -> Any:
    return torch.cat([each.detach().flatten() for each in model.parameters()])


def _digest(model: Any) -> str:
    return hashlib.sha256(_flat(model).view(torch.uint8).numpy().tobytes()).hexdigest()


# Ways in which DistributedDataParallel is used ---------------------------------------------------


def unused_parameters(place: Place, backend: str, *, hook: bool) -> dict[str, Any]:
    """Two branches; each rank takes one."""
    with place.group(backend):
        torch.manual_seed(7)
        branches = nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 1)])
        model = DistributedDataParallel(_Branches(branches), find_unused_parameters=True)
        if hook:
            reducing.attach(model)
        model(torch.ones(2, 3), place.rank % 2).sum().backward()
        gradients = [each.grad.flatten().tolist() for each in branches.parameters()]
        del model
        return {"gradients": gradients, "offloaded": reducing.offloaded()}


class _Branches(nn.Module):  # type: ignore[misc]  # torch has no types here
    def __init__(self, branches: Any) -> None:
        super().__init__()
        self.branches = branches

    def forward(self, rows: Any, taken: int) -> Any:
        return self.branches[taken](rows)


def accumulate(place: Place) -> dict[str, Any]:
    """Two steps without a word, one with; then a second model, trained in turn with the first."""
    with place.group("gloo"):
        first, second = _model("float32", 0.01), _model("float32", 25)
        for model in (first, second):
            reducing.attach(model)
        rows = torch.ones(1, _FEATURES) * (place.rank + 1)
        with first.no_sync():
            first(rows).sum().backward()
            first(rows).sum().backward()
        silent = reducing.offloaded()
        for model in (first, second, first, second):
            model(rows).sum().backward()
        gradients = [_digest_of_gradients(model) for model in (first, second)]
        del first, second, model
        return {"silent": silent, "gradients": gradients, "offloaded": reducing.offloaded()}


def _digest_of_gradients(model: Any) -> str:
    whole = torch.cat([each.grad.flatten() for each in model.parameters()])
    return hashlib.sha256(whole.numpy().tobytes()).hexdigest()


# Collectives -------------------------------------------------------------------------------------


def sums(place: Place) -> dict[str, Any]:
    """Where sums and averages differ in a bit from those that torch adds in the order of ranks."""
    wrong = []
    with place.group("footplate"):
        for name, dtype in _TYPES.items():
            for size in (1, 7, 1000, 70_001):
                for op, divisor in ((dist.ReduceOp.SUM, 1), (dist.ReduceOp.AVG, place.world)):
                    each = [_random(rank, size, dtype) for rank in range(place.world)]
                    mine = each[place.rank].clone()
                    dist.all_reduce(mine, op=op)
                    if not torch.equal(mine, _added(each, divisor)):
                        wrong.append([name, size, str(op)])
        return {"wrong": wrong, "offloaded": reducing.offloaded()}


def _random(rank: int, size: int, dtype: Any) -> Any:
    random = torch.Generator().manual_seed(1000 * size + rank)
    return (torch.randn(size, generator=random, dtype=torch.float64) * 3).to(dtype)


def _added(each: list[Any], divisor: int) -> Any:
    """In the order of ranks; the short types in float32, rounded once."""
    dtype = each[0].dtype
    short = dtype in (torch.float16, torch.bfloat16)
    total = each[0].to(torch.float32) if short else each[0]
    for one in each[1:]:
        total = total + (one.to(torch.float32) if short else one)
    return (total / divisor).to(dtype)


def shapes(place: Place) -> dict[str, Any]:
    """Views, transposed tensors, scalars, several at once, without waiting in between."""
    with place.group("footplate"):
        grid = torch.arange(12.0).view(3, 4) * (place.rank + 1)
        dist.all_reduce(grid.t())
        column = torch.arange(12.0).view(3, 4) * (place.rank + 1)
        dist.all_reduce(column[:, 1])
        scalar = torch.tensor(1.5) * (place.rank + 1)
        complex_one = torch.tensor([1 + 2j]) * (place.rank + 1)
        works = [dist.all_reduce(one, async_op=True) for one in (scalar, complex_one)]
        returned = [work.wait() for work in works]
        done = [[work.is_completed(), work.is_success()] for work in works]
        future = dist.all_reduce(torch.ones(2), async_op=True).get_future()
        (doubled,) = future.then(lambda it: [2 * one for one in it.value()]).wait()
        ways = [torch.ones(1) * place.rank for _ in range(3)]
        group = dist.group.WORLD
        group.allreduce(ways[0]).wait()
        group.allreduce([ways[1]], op=dist.ReduceOp.AVG).wait()
        group.allreduce(ways[2], dist.ReduceOp.MAX, datetime.timedelta(seconds=60)).wait()
        return {
            "grid": grid.tolist(),
            "column": column.tolist(),
            "scalar": scalar.item(),
            "complex": [complex_one.real.item(), complex_one.imag.item()],
            "returned": returned,
            "done": done,
            "then": doubled.tolist(),
            "ways": [one.item() for one in ways],
            "offloaded": reducing.offloaded(),
        }


def batches(place: Place) -> dict[str, Any]:
    """Small tensors of two types as one call: one vector for each type."""
    with place.group("footplate"):
        tensors = [torch.full((size,), float(size + place.rank)) for size in range(1, 40)]
        tensors += [torch.full((2, 3), 0.5, dtype=torch.float64)]
        with dist._coalescing_manager(async_ops=True) as batch:
            for one in tensors:
                dist.all_reduce(one)
        batch.wait()
        after = reducing.offloaded()
        mixed = [torch.ones(2), torch.ones(2, dtype=torch.int64)]
        for one in mixed:
            dist.all_reduce(one)
        firsts = [one.flatten()[0].item() for one in tensors]
        even = all(bool((one == one.flatten()[0]).all()) for one in tensors)
        return {"firsts": firsts, "even": even, "offloaded": after}


def other_collectives(place: Place) -> dict[str, Any]:
    """What reducers don't do: PyTorch's own backend does, and is right."""
    with place.group("footplate"):
        rank, world = place.rank, place.world
        whole = torch.tensor([rank + 1])
        dist.all_reduce(whole)
        most = torch.tensor([float(rank)])
        dist.all_reduce(most, op=dist.ReduceOp.MAX)
        product = torch.tensor([float(rank + 1)])
        dist.all_reduce(product, op=dist.ReduceOp.PRODUCT)
        empty = torch.zeros(0)
        dist.all_reduce(empty)
        sent = torch.tensor([rank])
        dist.broadcast(sent, src=1)
        gathered = [torch.zeros(1) for _ in range(world)]
        dist.all_gather(gathered, torch.tensor([float(rank)]))
        scattered = torch.zeros(1)
        dist.reduce_scatter(scattered, [torch.tensor([float(i)]) for i in range(world)])
        swapped = torch.zeros(world)
        dist.all_to_all_single(swapped, torch.arange(world) * 10.0 + rank)
        reduced = torch.tensor([float(rank)])
        dist.reduce(reduced, dst=0)
        objects: list[Any] = [None] * world
        dist.all_gather_object(objects, {"rank": rank})
        listed = [f"of {rank}"]
        dist.broadcast_object_list(listed, src=world - 1)
        passed = torch.tensor([float(rank)])
        if rank == 0:
            dist.send(passed, dst=1)
        elif rank == 1:
            dist.recv(passed, src=0)
        dist.barrier()
        return {
            "whole": whole.item(),
            "most": most.item(),
            "product": product.item(),
            "broadcast": sent.item(),
            "gathered": [one.item() for one in gathered],
            "scattered": scattered.item(),
            "swapped": swapped.tolist(),
            "reduced": reduced.item(),
            "objects": objects,
            "listed": listed,
            "passed": passed.item(),
            "offloaded": reducing.offloaded(),
        }


def groups(place: Place) -> dict[str, Any]:
    """Two overlapping groups, one of a single rank, and a second life of the default group."""
    with place.group("footplate"):
        pairs = [dist.new_group([0, 1]), dist.new_group([1, 2]), dist.new_group([2])]
        seen = []
        for members, group in zip(([0, 1], [1, 2], [2]), pairs, strict=True):
            if place.rank in members:
                tensor = torch.tensor([10.0**place.rank])
                dist.all_reduce(tensor, group=group)
                seen.append(tensor.item())
        before = reducing.offloaded()
    with place.group("footplate", life=1):
        tensor = torch.ones(1)
        dist.all_reduce(tensor)
        return {
            "seen": seen,
            "before": before,
            "after": tensor.item(),
            "name": dist.get_backend(),
            "offloaded": reducing.offloaded(),
        }


def from_functions(place: Place) -> dict[str, Any]:
    """The functional collectives, as compiled models use them."""
    from torch.distributed import _functional_collectives as functional

    with place.group("footplate"):
        made = functional.all_reduce(torch.ones(3), "sum", dist.group.WORLD)
        return {"sum": (made + 0).tolist(), "offloaded": reducing.offloaded()}


# Without reducers, or with different ones --------------------------------------------------------


def warn(place: Place, backend: str, *, hook: bool) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = train(place, backend, hook=hook, steps=2)
    messages = [str(one.message) for one in caught if "FOOTPLATE_REDUCERS" in str(one.message)]
    return {"warnings": messages, "offloaded": value["offloaded"], "digest": value["digest"]}


def disagree(place: Place, backend: str, *, hook: bool) -> dict[str, Any]:
    try:
        train(place, backend, hook=hook, steps=1)
    except reducing.ReductionError as error:
        return {"error": str(error)}
    return {}
