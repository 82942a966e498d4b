"""All-reduce by gloo's ring and by the reduction server, as many reducers as workers.

PYTHON benchmarks/reduction/compare.py --workers 2,4,8 --rate 200mbit
"""

from __future__ import annotations

import argparse
import os
import statistics
from typing import Any

from network import addresses, network, reducers, run_workers


def main() -> None:
    parsed = _arguments()
    for count in parsed.workers:
        with network(count, parsed.reducers or count, parsed.rate) as rig:
            if parsed.check:
                _print_check(rig.check(1.0))
            budget = parsed.budget or rig.queue
            _compare(rig, parsed, budget)


def _compare(rig: Any, parsed: argparse.Namespace, budget: int) -> None:
    orders = {
        "reducers": addresses(rig),
        "sizes_mb": parsed.sizes,
        "repeats": parsed.repeats,
        "ways": parsed.ways,
        "budget": budget,
        "chunk": parsed.chunk,
        "straggler_s": parsed.straggler_s,
    }
    dropped = sum(rig.drops().values())
    with reducers(rig) as running:
        running.await_start()
        idle_s = running.cpu_s()
        rows = run_workers(rig, orders)
        cost = (running.cpu_s() - idle_s) / max(running.received_gb(), 1e-9)
    lost = sum(rig.drops().values()) - dropped
    load = os.getloadavg()[0]
    print(
        f"\n{len(rig.workers)} workers, {len(rig.reducers)} reducers, {parsed.rate}, budget "
        f"{budget >> 10} KiB: {lost} drops, reducers {cost:.2f} CPU s/GB, load {load:.1f}"
    )
    for size_mb in parsed.sizes:
        print(_line(size_mb, [row for row in rows if row["mb"] == size_mb], parsed.ways, rig.bps))


def _line(size_mb: float, rows: list[dict[str, float]], ways: list[str], bps: int) -> str:
    """Fractions of the link, medians; ratios to the first way, medians of those of each repeat."""
    cells = [f"{size_mb:g} MB"]
    for way in ways:
        fraction = statistics.median(size_mb * 8e6 / row[way] / bps for row in rows)
        ratio = statistics.median(row[ways[0]] / row[way] for row in rows)
        cells.append(f"{way} {fraction:.3f}" + ("" if way == ways[0] else f" x{ratio:.2f}"))
    return "  ".join(cells)


def _print_check(check: dict[str, Any]) -> None:
    busy = check["machine_cpu_busy_in_ring"]
    print(f"links {check['min']}-{check['max']}, ok {check['ok']}, machine busy {busy}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=_whole, default=[2, 4, 8])
    parser.add_argument("--reducers", type=int, default=0, help="default: as many as workers")
    parser.add_argument("--rate", default="200mbit")
    parser.add_argument("--sizes", type=_sizes, default=[1, 4, 16, 64])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ways", type=_words, default=["gloo", "server", "bfloat16"])
    parser.add_argument("--budget", type=int, default=0, help="default: what a port queues")
    parser.add_argument("--chunk", type=int, default=0)
    parser.add_argument("--straggler-s", type=float, default=0, help="the last rank is so late")
    parser.add_argument("--no-check", dest="check", action="store_false")
    return parser.parse_args()


def _whole(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _sizes(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _words(text: str) -> list[str]:
    return text.split(",")


if __name__ == "__main__":
    main()
