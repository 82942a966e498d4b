"""A step of DistributedDataParallel by gloo and by reduction servers, as many as workers.

PYTHON benchmarks/reduction/ddp.py --workers 4 --rate 100mbit
"""

from __future__ import annotations

import argparse
import os
import statistics
from typing import Any

from network import addresses, network, reducers, run_workers


def main() -> None:
    parsed = _arguments()
    with network(parsed.workers, parsed.workers, parsed.rate, "fpddp") as rig:
        check = rig.check(1.0) if parsed.check else {}
        orders = {
            "reducers": addresses(rig),
            "budget": rig.queue,
            "steps": parsed.steps,
            "bucket_cap_mb": parsed.bucket_cap_mb,
            "wires": parsed.wires,
        }
        with reducers(rig) as running:
            running.await_start()
            rows = run_workers(rig, orders, script="ddp_worker.py")
    _report(rows, check, parsed)


def _report(rows: list[dict[str, Any]], check: dict[str, Any], parsed: argparse.Namespace) -> None:
    summary, steps = rows[-1], rows[:-1]
    load = os.getloadavg()[0]
    print(f"{parsed.workers} workers, {parsed.rate}, links ok {check.get('ok')}, load {load:.1f}")
    print(f"{summary['megabytes']:.1f} MB of gradients, {len(steps)} steps")
    for way in summary["ways"]:
        times = [row["seconds"][way] for row in steps]
        ratio = statistics.median(row["seconds"]["gloo"] / row["seconds"][way] for row in steps)
        first, last = (row["losses"][way] for row in (steps[0], steps[-1]))
        print(
            f"{way} {statistics.median(times):.3f} s x{ratio:.2f}, loss {first:.3f} to {last:.3f}, "
            f"{summary['offloaded'][way]} all-reduces by reducers"
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--bucket-cap-mb", type=float, default=4)
    parser.add_argument("--wires", type=lambda text: text.split(","), default=["float32"])
    parser.add_argument("--no-check", dest="check", action="store_false")
    return parser.parse_args()


if __name__ == "__main__":
    main()
