"""Footplate's tuner against its peers: regret, ranks and latency, in one table.

python benchmarks/tuning/compare.py --seeds 5 --trials 100 --tuners footplate,optuna-tpe
python benchmarks/tuning/compare.py --parallel 8 --suites functions --out losses.json

Regret: (least loss so far - least loss there is) / (median of random points - least loss there is).
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import bbob
import conditional_tables
import functions
import learners
import numpy as np
import tables
from pairs import print_pairs
from runs import run

from footplate.tuning.sampling import draw, generator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from problems import Problem

MARKS = (25, 50, 100)
RANDOM_POINTS = 100


def main() -> None:
    options = _options()
    jobs = [
        (problem_name, suite, name, seed)
        for seed in range(options.first_seed, options.first_seed + options.seeds)
        for suite, problem_name in _names(options.suites)
        for name in options.tuners.split(",")
    ]
    work = functools.partial(_work, options)
    if options.processes == 1:
        results = [_told(work(job)) for job in jobs]
    else:
        with multiprocessing.Pool(options.processes) as pool:
            results = [_told(result) for result in pool.imap_unordered(work, jobs)]
    scales = {key: _scale(options, *key, results) for key in {_where(r) for r in results}}
    if options.out:
        Path(options.out).write_text(json.dumps(results))
    _print_table(results, scales, options)


def _work(options: argparse.Namespace, job: tuple[str, str, str, int]) -> dict[str, object]:
    problem_name, suite, tuner, seed = job
    problem = _problem(options, suite, problem_name, seed)
    return run(problem, tuner, seed, options.trials, options.parallel)


def _told(result: dict[str, object]) -> dict[str, object]:
    what = f"{result['problem']} {result['tuner']} seed {result['seed']}"
    least = min(result["losses"])  # type: ignore[call-overload]  # a list of numbers
    print(f"{what}: {least:.5g}, {result['latency_ms']:.1f} ms", file=sys.stderr, flush=True)
    return result


def _names(suites: str) -> list[tuple[str, str]]:
    simple = [("functions", name) for name in (*functions.CENTRED, *functions.BOXED)]
    real = [
        (suite, name) for name, (suite, _, _) in {**learners.LEARNERS, **learners.SMALL}.items()
    ]
    listed = [(tables.SUITE, name) for name in tables.TABLES]
    branching = [(conditional_tables.SUITE, name) for name in conditional_tables.TABLES]
    rotated = [(bbob.SUITE, name) for name in bbob.NAMES]
    every = (*simple, *rotated, *real, *listed, *branching)
    return [(suite, name) for suite, name in every if suite in suites.split(",")]


def _problem(options: argparse.Namespace, suite: str, name: str, seed: int) -> Problem:
    if suite == tables.SUITE:
        return tables.problem(name, Path(options.tables))
    if suite == conditional_tables.SUITE:
        return conditional_tables.problem(name, Path(options.tables))
    if suite == bbob.SUITE:
        return bbob.problem(name, seed)
    every = (
        functions.problems(seed) if suite == "functions" else learners.problems(Path(options.cache))
    )
    return next(problem for problem in every if problem.name == name)


def _where(result: dict[str, object]) -> tuple[str, str, int]:
    """Losses of functions depend on the seed, those of learners don't."""
    moved = result["suite"] in ("functions", bbob.SUITE)
    seed = int(str(result["seed"])) if moved else 0
    return str(result["suite"]), str(result["problem"]), seed


def _scale(
    options: argparse.Namespace,
    suite: str,
    name: str,
    seed: int,
    results: Iterable[dict[str, object]],
) -> tuple[float, float]:
    """The least loss, and the one that is regret 1."""
    problem = _problem(options, suite, name, seed)
    drawn = [problem.loss(draw(problem.space, generator(1, i))) for i in range(RANDOM_POINTS)]
    seen = [min(r["losses"]) for r in results if _where(r) == (suite, name, seed)]  # type: ignore[call-overload]  # a list of numbers
    least = problem.best if problem.best is not None else min([*drawn, *seen])
    return least, float(np.median(drawn))


def _print_table(
    results: list[dict[str, object]],
    scales: dict[tuple[str, str, int], tuple[float, float]],
    options: argparse.Namespace,
) -> None:
    marks = [mark for mark in MARKS if mark <= options.trials]
    regrets: dict[tuple[str, str], dict[tuple[str, int], list[float]]] = defaultdict(dict)
    latency: dict[tuple[str, str], list[float]] = defaultdict(list)
    for result in results:
        least, one = scales[_where(result)]
        so_far = np.minimum.accumulate(np.array(result["losses"], dtype=np.float64))
        curve = (so_far - least) / max(one - least, 1e-12)
        key = str(result["suite"]), str(result["tuner"])
        case = str(result["problem"]), int(str(result["seed"]))
        regrets[key][case] = [float(curve[mark - 1]) for mark in marks]
        latency[key].append(float(str(result["latency_ms"])))
    heads = "".join(f" {f'@{mark}':>16}" for mark in marks)
    print(f"{'suite':12} {'tuner':12}{heads} {'rank':>6} {'ms':>7}   {options.parallel} parallel")
    for suite in sorted({suite for suite, _ in regrets}):
        ranks = _ranks({tuner: cases for (s, tuner), cases in regrets.items() if s == suite})
        for (s, tuner), cases in regrets.items():
            if s == suite:
                cells = "".join(
                    f" {_cell(np.array(list(cases.values()))[:, i])}" for i in range(len(marks))
                )
                ms = np.median(latency[s, tuner])
                print(f"{suite:12} {tuner:12}{cells} {ranks[tuner]:6.2f} {ms:7.1f}")
    print_pairs(regrets, options.tuners.split(","), marks)
    if options.each:
        _print_each(regrets)


def _cell(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():8.4f} ±{spread:6.4f}"


def _ranks(by_tuner: dict[str, dict[tuple[str, int], list[float]]]) -> dict[str, float]:
    """Mean place of each at the last mark, 1 for the best; equal ones share."""
    places: dict[str, list[float]] = defaultdict(list)
    for case in set.intersection(*(set(cases) for cases in by_tuner.values())):
        last = {tuner: cases[case][-1] for tuner, cases in by_tuner.items()}
        for tuner, mine in last.items():
            better = sum(other < mine for other in last.values())
            equal = sum(other == mine for other in last.values())
            places[tuner].append(better + (equal + 1) / 2)
    return {tuner: float(np.mean(found)) for tuner, found in places.items()}


def _print_each(regrets: dict[tuple[str, str], dict[tuple[str, int], list[float]]]) -> None:
    for (_, tuner), cases in sorted(regrets.items()):
        for name in sorted({problem for problem, _ in cases}):
            rows = np.array([values for (problem, _), values in cases.items() if problem == name])
            print(f"  {name:17} {tuner:12} " + " ".join(f"{v:8.4f}" for v in rows.mean(axis=0)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--tuners", default="footplate,random,optuna-tpe,optuna-gp")
    parser.add_argument("--suites", default="functions,mixed,conditional")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="also each problem by itself")
    parser.add_argument("--out", help="a file for the losses, as JSON")
    cache = Path(tempfile.gettempdir()) / "footplate-tuning-losses.db"
    parser.add_argument("--cache", default=str(cache), help="a file for losses of learners")
    folder = Path(tempfile.gettempdir()) / "footplate-tuning-tables"
    parser.add_argument("--tables", default=str(folder), help="a folder for the suite tables")
    return parser.parse_args()


if __name__ == "__main__":
    main()
