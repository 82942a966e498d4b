"""How much sooner a good setting is found where bad trials are stopped.

python benchmarks/tuning/stopping.py --seeds 10 --rules halving,optuna-hyperband
python benchmarks/tuning/stopping.py --families others,digits-mlp --rules halving
python benchmarks/tuning/stopping.py --sampler footplate --rules halving --trials 100

Eight trainings run side by side. Counted are the epochs of all of them together until one has a
loss (without its noise) as low as the final loss of the best 1 % of random settings. Then all rules
go on until the same number of trials has run: what is best then says whether one was stopped that
should not have been. *Lost*: the training that would have ended best of all was stopped.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from curves import EPOCHS, Made, recorded
from laws import LAWS, OTHERS
from samplers import SAMPLERS
from stoppers import STOPPERS, stopper_of

from footplate.tuning.sampling import generator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curves import Trainings

WORKERS = 8
_WORSE = 0.01
"""Of the way from the best to the median setting: what ends worse by more has ended worse."""


def run(
    trainings: Trainings, rule: str, sampler_name: str, seed: int, trials: int
) -> dict[str, object]:
    """Events in the order of their times; each trial has a pace of its own."""
    began = time.process_time()
    stopper = stopper_of(rule, trainings)
    sampler = SAMPLERS[sampler_name](trainings, seed)
    paces = np.random.default_rng([seed, 7]).uniform(0.7, 1.3, trials)
    events: list[tuple[float, int, int]] = []
    measured: dict[int, list[float]] = {}
    points = {}
    ends: dict[int, tuple[float, float]] = {}
    cut: set[int] = set()
    steps, reached = 0, 0

    def start(now: float) -> None:
        number = len(points) + 1
        if number > trials:
            return
        points[number] = sampler.ask(number)
        curve = trainings.measured(points[number], generator(seed, 3, number))
        measured[number] = [float(loss) for loss in curve]
        stopper.begin(number, points[number])
        heapq.heappush(events, (now + paces[number - 1], number, 1))

    for _ in range(WORKERS):
        start(0.0)
    while events:
        now, number, epoch = heapq.heappop(events)
        steps += 1
        loss, true = measured[number][epoch - 1], float(trainings.true(points[number])[epoch - 1])
        if not reached and true <= trainings.target:
            reached = steps
        stopped = stopper.stops(number, epoch, loss) and epoch < EPOCHS
        if not stopped and epoch < EPOCHS:
            heapq.heappush(events, (now + paces[number - 1], number, epoch + 1))
            continue
        stopper.end(number, stopped=stopped)
        cut |= {number} if stopped else set()
        sampler.tell(number, measured[number][:epoch], stopped=stopped)
        ends[number] = loss if math.isfinite(loss) else math.inf, true
        start(now)
    finals = [float(trainings.true(point)[-1]) for point in points.values()]
    best_ones = {i + 1 for i, final in enumerate(finals) if final == np.nanmin(finals)}
    return {
        "trainings": trainings.name,
        "rule": rule,
        "sampler": sampler_name,
        "seed": seed,
        "steps": steps,
        "reached": reached,
        "best": min(ends.values())[1],
        "median": float(np.nanmedian(finals)),
        "lost": best_ones <= cut,
        "cpu_s": time.process_time() - began,
    }


def main() -> None:
    options = _options()
    results = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for name in options.families:
            trainings = _trainings(name, seed, Path(options.cache))
            for rule in options.rules:
                result = run(trainings, rule, options.sampler, seed, options.trials)
                print(json.dumps(result), file=sys.stderr, flush=True)
                results.append(result)
    if options.out:
        Path(options.out).write_text(json.dumps(results))
    _print_table(results, options)


def _trainings(name: str, seed: int, cache: Path) -> Trainings:
    return Made(name, seed) if name in {*LAWS, *OTHERS} else recorded(name, 200, cache)


def _print_table(results: list[dict[str, object]], options: argparse.Namespace) -> None:
    """Ratios are of sums over seeds, as steps are what is paid for."""
    print(f"{options.trials} trials, {options.seeds} seeds, points: {options.sampler}")
    heads = f"{'faster':>8}{'steps':>8}{'missed':>8}{'worse':>8}{'at most':>9}{'lost':>6}"
    print(f"{'family':14}{'rule':18}{heads}")
    rules, families = options.rules, options.families
    overall: dict[str, list[float]] = defaultdict(list)
    for family in [*families, "all"]:
        chosen = [r for r in results if family in (r["trainings"], "all")]
        base = {_case(r): r for r in chosen if r["rule"] == "none"}
        for rule in rules:
            mine = {_case(r): r for r in chosen if r["rule"] == rule}
            row = _compared(mine, base)
            overall[rule].append(row[0])
            print(f"{family:14}{rule:18}" + "{:8.2f}{:8.2f}{:8d}{:8d}{:9.3f}{:6d}".format(*row))
    for rule in rules:
        known = [ratio for ratio in overall[rule][:-1] if ratio > 0.0]
        mean = math.exp(sum(map(math.log, known)) / max(1, len(known)))
        print(f"{'mean':14}{rule:18}{mean:8.2f}   geometric, over families")


def _case(result: dict[str, object]) -> tuple[str, int]:
    return str(result["trainings"]), int(str(result["seed"]))


def _compared(
    mine: dict[tuple[str, int], dict[str, object]], base: dict[tuple[str, int], dict[str, object]]
) -> tuple[float, float, int, int, float, int]:
    """Faster to the target, steps of all trials (a part of those without stopping), how often the
    target was missed that is reached without, how often the end was worse, by how much at most, and
    how often the training was stopped that would have ended best.

    Runs that don't reach it even without stopping don't count for the first.
    """
    reached = [case for case, r in base.items() if r["reached"]]
    missed = [case for case in reached if not mine[case]["reached"]]
    paid = _sum((mine[c]["reached"] or mine[c]["steps"]) for c in reached)
    needed = _sum(base[c]["reached"] for c in reached)
    losses = [_regret(mine[case], base[case]) for case in base]
    share = _sum(r["steps"] for r in mine.values()) / _sum(r["steps"] for r in base.values())
    worse = sum(loss > _WORSE for loss in losses)
    lost = sum(bool(r["lost"]) for r in mine.values())
    return needed / max(paid, 1.0), share, len(missed), worse, max(losses), lost


def _regret(mine: dict[str, object], base: dict[str, object]) -> float:
    best, median = float(str(base["best"])), float(str(base["median"]))
    return (float(str(mine["best"])) - best) / max(median - best, 1e-9)


def _sum(values: Iterable[object]) -> float:
    return float(sum(float(str(value)) for value in values))


def _rules(names: str) -> list[str]:
    """All others are compared with ``none``, so it is always one of them."""
    return ["none", *(name for name in names.split(",") if name != "none")]


def _families(names: str) -> list[str]:
    lists = {"laws": LAWS, "others": OTHERS}
    return [family for name in names.split(",") for family in lists.get(name, [name])]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument(
        "--rules",
        type=_rules,
        default=list(STOPPERS),
        help="of " + ", ".join(STOPPERS) + "; the first is always among them",
    )
    parser.add_argument(
        "--families", type=_families, default=list(LAWS), help="names, or all of 'laws', 'others'"
    )
    parser.add_argument("--sampler", default="random", choices=list(SAMPLERS))
    parser.add_argument("--out", help="a file for the results, as JSON")
    parser.add_argument("--cache", default=tempfile.gettempdir(), help="for recorded trainings")
    return parser.parse_args()


if __name__ == "__main__":
    main()
