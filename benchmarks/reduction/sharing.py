"""Two jobs that have reducers of their own on the same hosts: one by one, then at once.

PYTHON benchmarks/reduction/sharing.py --workers 4 --rate 100mbit
"""

from __future__ import annotations

import argparse
import os
import statistics
from typing import Any

from network import Workers, addresses, network, reducers

JOBS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=4, help="of each job")
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--size", type=float, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    parsed = parser.parse_args()
    with network(JOBS * parsed.workers, parsed.workers, parsed.rate) as rig:
        for jobs in ([0], [1], [0, 1]):
            with reducers(rig, JOBS) as running:
                running.await_start()
                dropped = sum(rig.drops().values())
                started = [_start(rig, job, parsed) for job in jobs]
                fractions = [_fraction(each.rows(), rig.bps) for each in started]
                dropped = sum(rig.drops().values()) - dropped
            load = os.getloadavg()[0]
            print(f"jobs {jobs}: {fractions} of the link, {dropped} drops, load {load:.1f}")


def _start(rig: Any, job: int, parsed: argparse.Namespace) -> Workers:
    orders = {
        "reducers": addresses(rig, job),
        "sizes_mb": [parsed.size],
        "repeats": parsed.repeats,
        "ways": ["server"],
        "budget": rig.queue // 2 // JOBS,
    }
    return Workers(rig, orders, rig.workers[job * parsed.workers :][: parsed.workers])


def _fraction(rows: list[dict[str, Any]], bps: int) -> float:
    return round(statistics.median(row["mb"] * 8e6 / row["server"] / bps for row in rows), 3)


if __name__ == "__main__":
    main()
