"""Whole texts."""

from __future__ import annotations

import pytest
from hypothesis import given

from footplate.domain.stacks import (
    Dump,
    Frame,
    Missing,
    Process,
    Thread,
    compare,
    describe,
    shorten,
)
from tests.unit.domain.stacks.test_comparison import DUMPS

LAYER = "/cache/layers/43/lib/python3.11/site-packages"
RUNPY = (
    Frame("_run_code", "<frozen runpy>", 88),
    Frame("_run_module_as_main", "<frozen runpy>", 1),
)
MAIN = (Frame("<module>", f"{LAYER}/trainer/task.py", 40), *RUNPY)
TORCH = f"{LAYER}/torch/distributed/distributed_c10d.py"
WAITING = (
    Frame("all_reduce", TORCH, 2501),
    Frame("train", f"{LAYER}/trainer/task.py", 13),
    *MAIN,
)
LOADING = (
    Frame("load_batch", f"{LAYER}/trainer/data.py", 41),
    Frame("train", f"{LAYER}/trainer/task.py", 12),
    *MAIN,
)


def dump(*frames: Frame, stopped: bool = False, program: bool = True, count: int = 1) -> Dump:
    threads = (Thread("MainThread", frames),)
    process = Process(7, "python", program, stopped, threads)
    return Dump((process,) * count)


def test_a_hang() -> None:
    told = {
        "workerpool0-0": dump(*WAITING),
        "workerpool1-0": dump(*LOADING),
        "workerpool1-1": dump(*WAITING),
    }
    silent = Missing("workerpool1-2", "no answer within 10 s")
    assert describe(compare(told, [silent])) == (
        "workerpool0-0, workerpool1-1 (2 of 3) are in "
        "all_reduce (torch/distributed/distributed_c10d.py:2501)\n"
        "  all_reduce (torch/distributed/distributed_c10d.py:2501)\n"
        "  train (trainer/task.py:13)\n"
        "  <module> (trainer/task.py:40)\n"
        "\n"
        "workerpool1-0 differs: it is in load_batch (trainer/data.py:41)\n"
        "  load_batch (trainer/data.py:41)\n"
        "  train (trainer/task.py:12)\n"
        "  <module> (trainer/task.py:40)\n"
        "  (in train of trainer/task.py these are at line 12, the others are at line 13)\n"
        "\n"
        "Not known:\n"
        "  workerpool1-2: no answer within 10 s"
    )


def test_no_majority() -> None:
    told = {"w-0": dump(*WAITING), "w-1": dump(*LOADING, stopped=True)}
    assert describe(compare(told, ())) == (
        "No place in the code has more than half of the processes.\n"
        "\n"
        "w-0 (1 of 2) is in all_reduce (torch/distributed/distributed_c10d.py:2501)\n"
        "  all_reduce (torch/distributed/distributed_c10d.py:2501)\n"
        "  train (trainer/task.py:13)\n"
        "  <module> (trainer/task.py:40)\n"
        "\n"
        "w-1 (stopped by a signal) (1 of 2) is in load_batch (trainer/data.py:41)\n"
        "  load_batch (trainer/data.py:41)\n"
        "  train (trainer/task.py:12)\n"
        "  <module> (trainer/task.py:40)"
    )


def test_one_alone_with_children() -> None:
    child = dump(*LOADING, program=False, count=2).processes
    told = {"w-0": Dump((*dump(*WAITING).processes, *child))}
    assert describe(compare(told, ())) == (
        "w-0 is in all_reduce (torch/distributed/distributed_c10d.py:2501)\n"
        "  all_reduce (torch/distributed/distributed_c10d.py:2501)\n"
        "  train (trainer/task.py:13)\n"
        "  <module> (trainer/task.py:40)\n"
        "\n"
        "2 child processes (7, 7) of w-0 are in load_batch (trainer/data.py:41)\n"
        "  load_batch (trainer/data.py:41)\n"
        "  train (trainer/task.py:12)\n"
        "  <module> (trainer/task.py:40)"
    )


def test_those_near_by_and_many_frames() -> None:
    deep = tuple(Frame(f"f{number}", "a/b/c.py", 1) for number in range(20))
    other = (Frame("f0", "a/b/c.py", 2), *deep[1:])
    told = {"w-0": dump(*deep), "w-1": dump(*deep), "w-2": dump(*other)}
    text = describe(compare(told, ()))
    assert text.splitlines() == [
        "w-0, w-1, w-2 (3 of 3) are in f0 (b/c.py:1)",
        *(f"  f{number} (b/c.py:1)" for number in range(12)),
        "  ... and 8 more",
        "  w-2 is at this place, too, in f0 (b/c.py:2) just now",
    ]


@pytest.mark.parametrize(
    ("file", "short"),
    [
        ("/usr/lib/python3.11/threading.py", "threading.py"),
        ("/x/lib/python3.7/site-packages/torch/nn/m.py", "torch/nn/m.py"),
        ("/usr/lib/python3/dist-packages/numpy/core.py", "numpy/core.py"),
        ("/home/me/trainer/data.py", "trainer/data.py"),
        ("<string>", "<string>"),
        ("task.py", "task.py"),
    ],
)
def test_files_by_the_part_that_tells(file: str, short: str) -> None:
    assert shorten(file) == short


@given(DUMPS)
def test_each_replica_is_named(dumps: dict[str, Dump]) -> None:
    text = describe(compare(dumps, ()))
    assert all(name in text for name, dump in dumps.items() if dump.processes)
