"""One worker: the same vector by gloo and by the reduction server in turn, in the same minute.

Its argument is a JSON object: rank, world, master, reducers (host:port,...), sizes_mb, repeats,
ways (of ``gloo``, ``server``, ``bfloat16``), budget, chunk, and straggler_s, for which the last
rank is late. Rank 0 prints a line for each repeat: the seconds of the slowest rank, for each way.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from footplate_reduction.client import Client, WireType, connect
from footplate_reduction.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

GLOO_PORT = 29500


class Worker:
    """Ends with ``close``."""

    def __init__(self, orders: dict[str, Any]) -> None:
        self.orders = orders
        self.rank, self.world = orders["rank"], orders["world"]
        port = orders.get("gloo_port", GLOO_PORT)
        torch.set_num_threads(1)
        dist.init_process_group(
            "gloo",
            init_method=f"tcp://{orders['master']}:{port}",
            rank=self.rank,
            world_size=self.world,
        )
        limits = Limits(budget_bytes=orders["budget"], chunk_bytes=orders.get("chunk", 0))
        self.client: Client = connect(
            orders["reducers"],
            rank=self.rank,
            world=self.world,
            group=orders.get("group", "0"),
            limits=limits,
        )

    def measure(self, way: str, tensor: torch.Tensor) -> float:
        """Seconds that the slowest rank took. The result is checked."""
        tensor.fill_(self.rank + 1)
        act = self._act(way, tensor)
        dist.barrier()
        if self.rank == self.world - 1:
            time.sleep(self.orders.get("straggler_s", 0))
        began = time.perf_counter()
        act()
        took = torch.tensor(time.perf_counter() - began)
        dist.all_reduce(took, dist.ReduceOp.MAX)
        expected = self.world * (self.world + 1) / 2
        if not bool((tensor == expected).all()):
            raise RuntimeError(f"{way} gave a wrong result")
        return float(took)

    def close(self) -> None:
        dist.barrier()
        self.client.close()
        dist.destroy_process_group()

    def _act(self, way: str, tensor: torch.Tensor) -> Callable[[], Any]:
        if way == "gloo":
            return partial(dist.all_reduce, tensor)
        wire = WireType.BFLOAT16 if way == "bfloat16" else WireType.FLOAT32
        buffer = tensor.numpy()
        return partial(self.client.all_reduce, buffer, WireType.FLOAT32, wire=wire)


def main() -> None:
    worker = Worker(json.loads(sys.argv[1]))
    orders = worker.orders
    for size_mb in orders["sizes_mb"]:
        tensor = torch.empty(int(size_mb * 1e6) // 4)
        for repeat in range(orders["repeats"] + 1):
            row = {way: worker.measure(way, tensor) for way in orders["ways"]}
            if repeat and not worker.rank:  # the first one warms up
                print(json.dumps({"mb": size_mb, **row}), flush=True)
    worker.close()


if __name__ == "__main__":
    main()
