"""One worker: the same model and rows by gloo and by reduction servers in turn, step by step.

Its argument is a JSON object: rank, world, master, reducers (host:port,...), budget, steps,
bucket_cap_mb, wires (of ``float32``, ``bfloat16``). Rank 0 prints a line for each step: seconds of
the slowest rank and its own loss, for each way; and a last one about all of them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import torch
import torch.distributed as dist
from footplate_reduction import torch as reduction
from torch import nn
from torch.nn.parallel import DistributedDataParallel

PORT = 29500
WORDS, WIDTH, LENGTH, BATCH = 4096, 256, 32, 2


class Way:
    """One of the models, which all begin alike."""

    def __init__(self, orders: dict[str, Any], wire: str | None) -> None:
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        net = nn.Sequential(nn.Embedding(WORDS, WIDTH), body, nn.Linear(WIDTH, WORDS))
        self.model = DistributedDataParallel(net, bucket_cap_mb=orders["bucket_cap_mb"])
        if wire is not None:
            reduction.attach(self.model, wire)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.03, momentum=0.9)
        self.offloaded = 0

    def step(self, rows: Any) -> tuple[float, float]:
        """Seconds that the slowest rank took, and this rank's loss."""
        before = reduction.offloaded()
        dist.barrier()
        began = time.perf_counter()
        self.optimizer.zero_grad()
        guesses = self.model(rows[:, :-1]).flatten(0, 1)
        loss = nn.functional.cross_entropy(guesses, rows[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        took = torch.tensor(time.perf_counter() - began)
        dist.all_reduce(took, dist.ReduceOp.MAX)
        self.offloaded += reduction.offloaded() - before
        return float(took), loss.item()

    def fingerprint(self) -> float:
        return float(sum(each.detach().double().sum() for each in self.model.parameters()))


def main() -> None:
    orders = json.loads(sys.argv[1])
    os.environ["FOOTPLATE_REDUCERS"] = orders["reducers"]
    os.environ["FOOTPLATE_REDUCTION_BUDGET"] = str(orders["budget"])
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://{orders['master']}:{PORT}",
        rank=orders["rank"],
        world_size=orders["world"],
    )
    ways = {"gloo": Way(orders, None), **{wire: Way(orders, wire) for wire in orders["wires"]}}
    _train(ways, orders)
    prints: list[Any] = [None] * orders["world"]
    dist.all_gather_object(prints, [way.fingerprint() for way in ways.values()])
    if any(each != prints[0] for each in prints):
        raise RuntimeError("ranks have different parameters")
    if not orders["rank"]:
        print(json.dumps(_summary(ways)), flush=True)
    dist.barrier()
    dist.destroy_process_group()


def _train(ways: dict[str, Way], orders: dict[str, Any]) -> None:
    """Rows that count upwards, which can be learnt. The first two steps warm up."""
    random = torch.Generator().manual_seed(orders["rank"])
    for number in range(orders["steps"] + 2):
        starts = torch.randint(0, WORDS, (BATCH, 1), generator=random)
        rows = (starts + torch.arange(LENGTH + 1)) % WORDS
        took = {name: way.step(rows) for name, way in ways.items()}
        if number > 1 and not orders["rank"]:
            seconds = {name: value for name, (value, _) in took.items()}
            losses = {name: value for name, (_, value) in took.items()}
            print(json.dumps({"seconds": seconds, "losses": losses}), flush=True)


def _summary(ways: dict[str, Way]) -> dict[str, Any]:
    elements = sum(each.numel() for each in ways["gloo"].model.parameters())
    offloaded = {name: way.offloaded for name, way in ways.items()}
    return {"ways": list(ways), "megabytes": elements * 4 / 1e6, "offloaded": offloaded}


if __name__ == "__main__":
    main()
