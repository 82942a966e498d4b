"""One reducer on loopback, with one lane and with several: what a thread more is worth.

PYTHON benchmarks/reduction/lanes.py --workers 2 --lanes 1,2
"""

from __future__ import annotations

import argparse
import os
import statistics

from network import Loopback, Workers, addresses, reducers

ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lanes", default="1,2")
    parser.add_argument("--size", type=float, default=64)
    parser.add_argument("--budget", type=int, default=4 << 20)
    parser.add_argument("--repeats", type=int, default=5)
    parsed = parser.parse_args()
    for _ in range(ROUNDS):
        for lanes in parsed.lanes.split(","):
            _measure(parsed, lanes)


def _measure(parsed: argparse.Namespace, lanes: str) -> None:
    rig = Loopback(parsed.workers, 1)
    orders = {
        "reducers": addresses(rig),
        "sizes_mb": [parsed.size],
        "repeats": parsed.repeats,
        "ways": ["gloo", "server", "bfloat16"],
        "budget": parsed.budget,
    }
    with reducers(rig, FOOTPLATE_REDUCTION_LANES=lanes) as running:
        running.await_start()
        idle_s = running.cpu_s()
        rows = Workers(rig, orders, rig.workers).rows()
        cost = (running.cpu_s() - idle_s) / running.received_gb()
    rates = {
        way: statistics.median(parsed.size * 8e-3 * parsed.workers / row[way] for row in rows)
        for way in ("server", "bfloat16")
    }
    said = ", ".join(f"{way} {rate:.1f} Gbit/s of float32" for way, rate in rates.items())
    load = os.getloadavg()[0]
    print(f"{lanes} lanes: {said} from all workers, {cost:.2f} CPU s/GB, load {load:.1f}")


if __name__ == "__main__":
    main()
