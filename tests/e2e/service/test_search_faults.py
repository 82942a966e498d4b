"""The database of a search is locked for seconds by somebody else: nothing is lost."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from contextlib import closing

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from tests.e2e.service.conftest import Context
from tests.e2e.service.tuning_helpers import (
    REPORTER,
    curve,
    leftovers,
    search,
    starts,
    told,
    trials,
)

TRIALS = 4
BUSY_S = 8
"""Longer than a server waits for a lock that another process holds."""
GATED = REPORTER + (
    """
print(json.dumps({"trial": trial, "x": given.x}), flush=True)
gate = given.job_dir.parent / ("go-%d" % ((trial + 1) // 2))
while not gate.exists():
    time.sleep(0.05)
reporter = HyperTune()
for step in (1, 2):
    reporter.tell("loss", given.x / step, step)
"""
)


def submit(context: Context) -> TrainingJobName:
    """Two trials at once; each pair waits for its gate."""
    name = context.submit(GATED, hyperparameters=search(TRIALS, 2))
    context.out(name).mkdir(parents=True, exist_ok=True)
    context.until(lambda: len(starts(context, name)) == 2)
    context.until(lambda: [t.state for t in trials(context, name)] == ["ACTIVE"] * 2)
    return name


def check(context: Context, name: TrainingJobName) -> None:
    """Each trial ran once, was measured once, and was told of once."""
    context.wait_for(name, State.SUCCEEDED)
    numbers = list(range(1, TRIALS + 1))
    found = trials(context, name)
    assert [(t.number, t.state) for t in found] == [(n, "SUCCEEDED") for n in numbers]
    assert {number: len(said) for number, said in starts(context, name).items()} == {
        str(number): 1 for number in numbers
    }
    for number in numbers:
        assert [point.step for point in curve(context, name, number)] == [1, 2]
    ended = Counter(message.split(":")[0] for message in told(context, name, "TRIAL_ENDED"))
    assert ended == {f"trial {number}": 1 for number in numbers}
    context.until(lambda: leftovers(context) == [])


def test_a_database_that_is_locked_for_seconds(context: Context) -> None:
    name = submit(context)
    path = context.service.data_dir / "footplate.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        (context.out(name) / "go-1").touch()
        until = time.monotonic() + BUSY_S
        context.until(lambda: time.monotonic() > until)
        assert [t.state for t in trials(context, name)] == ["ACTIVE"] * 2, "it answers meanwhile"
        other.execute("rollback")
    (context.out(name) / "go-2").touch()
    check(context, name)
