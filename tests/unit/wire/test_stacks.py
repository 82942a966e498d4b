from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.domain.stacks import Dump, Frame, Missing, Process, Report, Thread, compare
from footplate.protocol.stacks import FrameDump, ProcessDump, ReplicaDump, ThreadDump
from footplate.wire.stacks import (
    MAX_FRAMES,
    MAX_PROCESSES,
    MAX_TEXT_LENGTH,
    decode_dump,
    encode_report,
    read_report,
)

MANY_BYTES = 6 << 20
FRAME = {"function": "train", "file": "task.py", "line": 3}


def process(**fields: Any) -> dict[str, Any]:
    threads = [{"name": "MainThread", "frames": [FRAME], "omitted": 1}]
    told = {"pid": 7, "command": "python", "program": True, "stopped": False, "threads": threads}
    return {**told, **fields}


def test_what_a_replica_tells() -> None:
    told = {"processes": [process(), {**process(error="no"), "threads": []}], "omitted": 2}
    thread = Thread("MainThread", (Frame("train", "task.py", 3),), 1)
    assert decode_dump(json.dumps(told)) == Dump(
        (Process(7, "python", True, False, (thread,)), Process(7, "python", True, error="no")), 2
    )


def test_what_a_supervisor_sends_is_read_as_it_means_it() -> None:
    thread = ThreadDump("MainThread", (FrameDump("train", "task.py", 3),), 1)
    fine = ProcessDump(7, "python", program=True, stopped=True, threads=(thread,))
    lost = ProcessDump(8, "python", program=False, stopped=False, error="no")
    read = decode_dump(json.dumps(ReplicaDump((fine, lost), 2).encode()))
    frames = (Frame("train", "task.py", 3),)
    assert read == Dump(
        (
            Process(7, "python", True, True, (Thread("MainThread", frames, 1),)),
            Process(8, "python", False, error="no"),
        ),
        2,
    )


@pytest.mark.parametrize(
    "told",
    [
        "",
        "[]",
        "{}",
        '{"processes": 3}',
        '{"processes": [3]}',
        json.dumps({"processes": [process(pid="x")]}),
        json.dumps({"processes": [process(pid=1.5)]}),
        json.dumps({"processes": [process(threads=[{"name": "a", "frames": [["f", "g", 1]]}])]}),
        json.dumps({"processes": [process(threads=[{"frames": []}])]}),
        "[" * 100_000,
    ],
)
def test_nonsense_is_refused(told: str) -> None:
    with pytest.raises(InvalidArgument):
        decode_dump(told)


@pytest.mark.parametrize(
    "processes",
    [
        [[]] * 20_000,
        [process(threads=[[]] * 20_000)],
        [process(threads=[{"name": "t", "frames": [{}] * 20_000}])],
    ],
    ids=["processes", "threads", "frames"],
)
def test_much_nonsense_costs_no_more_than_little(processes: list[Any]) -> None:
    text = json.dumps({"processes": processes})
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArgument):
            decode_dump(text)
        assert tracemalloc.get_traced_memory()[1] < MANY_BYTES
    finally:
        tracemalloc.stop()


def test_what_is_too_much_is_cut_and_counted() -> None:
    long = {"function": "f\n\x1b" * 1000, "file": "x" * 1000, "line": -(10**300)}
    threads = [{"name": "t", "frames": [long] * (MAX_FRAMES + 5)}]
    told = {"processes": [process(threads=threads)] * (MAX_PROCESSES + 2), "omitted": 3}
    dump = decode_dump(json.dumps(told))
    assert (len(dump.processes), dump.omitted) == (MAX_PROCESSES, 5)
    thread = dump.processes[0].threads[0]
    assert (len(thread.frames), thread.omitted) == (MAX_FRAMES, 5)
    frame = thread.frames[0]
    assert len(frame.function) <= MAX_TEXT_LENGTH
    assert ("\n" in frame.function, frame.file, frame.line) == (False, "x" * MAX_TEXT_LENGTH, 0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["processes", "threads", "frames", "pid"]), inner)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["processes", "omitted"]), JSON))
def test_nothing_breaks_it(told: dict[str, Any]) -> None:
    try:
        dump = decode_dump(json.dumps(told))
    except InvalidArgument:
        return
    assert len(dump.processes) <= MAX_PROCESSES


def test_a_report_comes_back_from_json_as_it_was() -> None:
    dump = decode_dump(json.dumps({"processes": [process()]}))
    report = Report(compare({"w-0": dump}, [Missing("w-1", "why")]), {"w-0": dump})
    resource = json.loads(json.dumps(encode_report(report)))
    assert read_report(resource) == report
    with pytest.raises(InvalidArgument, match="comparison"):
        read_report({})
