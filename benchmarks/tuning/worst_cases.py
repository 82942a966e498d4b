"""Mean and worst regret of Footplate's tuner and its peers over five suites, in one table.

python benchmarks/tuning/worst_cases.py --seeds 16 --results searches.jsonl
python benchmarks/tuning/worst_cases.py --suites branches --parallel 4 --failing-third

Regret: (loss without noise of the trial that looks best - least loss there is) / (median of random
points - least loss there is). Searches that --results has already aren't run again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import branching
import families
import functions
import numpy as np
import tables
from runs import run

from footplate.tuning.encoding import Encoding
from footplate.tuning.sampling import draw, generator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from problems import Loss, Problem

    from footplate.domain.studies.space import Point, SearchSpace

SUITES = ("flat", "mixed", families.SUITE, branching.BRANCHES, branching.PLATEAUS)
_DRAWN = 200
_SEARCH = ("suite", "problem", "tuner", "seed")


def main() -> None:
    options = _options()
    warnings.simplefilter("ignore")  # of learners that don't converge, and of trials that fail
    kept = _Kept(Path(options.results) if options.results else None, options)
    marks = [mark for mark in (25, 50, 100) if mark <= options.trials]
    tuners = options.tuners.split(",")
    rows: dict[_Line, list[list[float]]] = defaultdict(list)
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for problem in _problems(options, seed):
            least, one = _scale(problem)
            for tuner in tuners:
                curve = np.array(kept.search(problem, tuner, seed)["found"])
                regret = np.nan_to_num((curve - least) / max(one - least, 1e-12), posinf=1.0)
                found = [float(regret[mark - 1]) for mark in marks]
                for name in ("all", problem.name) if options.each else ("all",):
                    rows[_Line(problem.suite, name, tuner)].append(found)
    _print(rows, marks)


class _Line(NamedTuple):
    suite: str
    problem: str
    tuner: str


class _Kept:
    """Searches, in a file with one of them a line."""

    def __init__(self, path: Path | None, options: argparse.Namespace) -> None:
        self._path, self._options = path, options
        lines = path.read_text().splitlines() if path and path.exists() else []
        self._found = {self._key(one): one for one in map(json.loads, lines)}

    def search(self, problem: Problem, tuner: str, seed: int) -> dict[str, Any]:
        options = self._options
        how = {
            "trials": options.trials,
            "parallel": options.parallel,
            "failing": options.failing_third,
        }
        wanted = {"suite": problem.suite, "problem": problem.name, "tuner": tuner, "seed": seed}
        key = self._key(wanted | how)
        if key not in self._found:
            made = run(problem, tuner, seed, options.trials, options.parallel) | how
            self._found[key] = json.loads(json.dumps(made))
            if self._path:
                with self._path.open("a") as file:
                    file.write(json.dumps(made) + "\n")
        return self._found[key]

    def _key(self, one: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(one[name] for name in (*_SEARCH, "trials", "parallel", "failing"))


def _problems(options: argparse.Namespace, seed: int) -> Iterator[Problem]:
    folder = Path(options.tables)
    for problem in _every(options.suites.split(","), folder, seed):
        if options.problems and problem.name not in options.problems.split(","):
            continue
        yield _failing(problem, seed) if options.failing_third else problem


def _every(suites: list[str], folder: Path, seed: int) -> Iterator[Problem]:
    if "flat" in suites:
        yield from (replace(problem, suite="flat") for problem in functions.problems(seed))
    if "mixed" in suites:
        found = (tables.problem(name, folder) for name in tables.TABLES)
        yield from (replace(problem, suite="mixed") for problem in found)
    if families.SUITE in suites:
        yield from (families.problem(name, folder) for name in families.DATA)
    yield from (problem for problem in branching.problems(seed) if problem.suite in suites)


def _failing(problem: Problem, seed: int) -> Problem:
    """Trials fail beyond a plane that cuts off a third of the space, not the best that is known."""
    rng = generator(seed, 31)
    encoding = _encoding(problem.space)
    points = [draw(problem.space, rng) for _ in range(_DRAWN)]
    direction = rng.standard_normal(encoding.width)
    sizes = np.array([max(along.categories - 1, 1) for along in encoding.axes])

    def place(some: list[Point]) -> np.ndarray[Any, Any]:
        return np.asarray(np.nan_to_num(encoding.rows(some) / sizes, nan=0.5) @ direction)

    losses = [(problem.truth or problem.loss)(point) for point in points]
    best = points[int(np.nanargmin(losses))]
    places = place(points)
    low, high = np.quantile(places, [1 / 3, 2 / 3])
    side = -1.0 if place([best])[0] > (low + high) / 2 else 1.0
    border = high if side > 0 else -low

    def cut(loss: Loss) -> Loss:
        return lambda point: float("nan") if side * place([point])[0] > border else loss(point)

    return replace(problem, loss=cut(problem.loss))


@cache
def _encoding(space: SearchSpace) -> Encoding:
    return Encoding(space)


def _scale(problem: Problem) -> tuple[float, float]:
    """The least loss, and the one that is regret 1."""
    loss = problem.truth or problem.loss
    drawn = [loss(draw(problem.space, generator(1, i))) for i in range(_DRAWN)]
    assert problem.best is not None
    return problem.best, float(np.nanmedian(drawn))


def _print(rows: dict[_Line, list[list[float]]], marks: list[int]) -> None:
    heads = "".join(f"   @{mark:<3} mean  worst" for mark in marks)
    print(f"{'suite':12} {'problem':18} {'tuner':11} searches{heads}")
    for line, found in sorted(rows.items()):
        means, worst = np.mean(found, axis=0), np.max(found, axis=0)
        cells = "".join(f"   {m:9.4f} {w:6.3f}" for m, w in zip(means, worst, strict=True))
        print(f"{line.suite:12} {line.problem:18} {line.tuner:11} {len(found):8}{cells}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=1, help="1, 4 or 16 trials at once")
    parser.add_argument("--failing-third", action="store_true", help="a third of the space fails")
    parser.add_argument("--tuners", default="footplate,optuna-tpe,optuna-gp,random")
    parser.add_argument("--suites", default=",".join(SUITES))
    parser.add_argument("--problems", help="only these problems of the suites")
    parser.add_argument("--each", action="store_true", help="also each problem by itself")
    parser.add_argument("--results", help="a file for the searches, as lines of JSON")
    folder = Path(tempfile.gettempdir()) / "footplate-tuning-tables"
    parser.add_argument("--tables", default=str(folder), help="a folder for tables of learners")
    return parser.parse_args()


if __name__ == "__main__":
    main()
