"""One search of one tuner."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
from tuners import TUNERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from problems import Problem

    from footplate.domain.studies.space import Point


def run(
    problem: Problem, tuner_name: str, seed: int, trials: int, parallel: int
) -> dict[str, object]:
    """One search. With several in parallel, each takes a random time, and the next follows it.

    ``found``: after each trial, the loss without noise of the one that looks best. A loss that is
    NaN is a failed trial's.
    """
    tuner = TUNERS[tuner_name](problem.space, seed, parallel)
    durations = np.random.default_rng([seed, 7]).uniform(0.5, 1.5, trials)
    running: list[tuple[float, object, Point, float]] = []
    ended: list[tuple[Point, float]] = []
    asked_s: list[float] = []
    now = 0.0
    for number in range(trials):
        if len(running) == parallel:
            running.sort(key=lambda one: one[0])
            now, token, point, loss = running.pop(0)
            tuner.tell(token, point, loss)
            ended.append((point, loss))
            tuner.learn()
        began = time.process_time()
        token, point = tuner.ask()
        asked_s.append(time.process_time() - began)
        running.append((now + durations[number], token, point, problem.loss(point)))
    ended += [(point, loss) for _, _, point, loss in sorted(running, key=lambda one: one[0])]
    return {
        "suite": problem.suite,
        "problem": problem.name,
        "tuner": tuner_name,
        "seed": seed,
        "losses": [loss for _, loss in ended],
        "found": _found(problem, ended),
        "latency_ms": 1000 * float(np.median(asked_s[len(asked_s) // 2 :])),
    }


def _found(problem: Problem, ended: Iterable[tuple[Point, float]]) -> list[float]:
    found, least, true = [], math.inf, math.inf
    for point, loss in ended:
        if loss < least:
            least, true = loss, problem.truth(point) if problem.truth else loss
        found.append(true)
    return found
