"""The spool keeps every record in order, whatever dies and whatever is full."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from footplate.replica.spool import Spool
from tests.support.profiles import scaled

MIB = 1024 * 1024


def body(text: str) -> bytes:
    return b'"m":%s}' % json.dumps(text).encode()


def full(spool: Spool) -> bool:
    return spool.full


def drain(spool: Spool, limit_bytes: int = 262144) -> list[tuple[int, str]]:
    """Read and acknowledge everything."""
    records = []
    while spool.waiting:
        batch = spool.read(limit_bytes)
        records += [(r["n"], r["m"]) for r in json.loads(b"[" + batch.body + b"]")]
        assert records[-1][0] == batch.last
        spool.acknowledge(batch.last)
    return records


def test_records_come_back_numbered_and_in_order(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), MIB)
    spool.append([body("a"), body("b")])
    spool.append([body("c")])
    assert drain(spool) == [(1, "a"), (2, "b"), (3, "c")]
    spool.append([body("d")])
    assert drain(spool) == [(4, "d")]
    spool.close()


def test_a_part_can_be_acknowledged(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), MIB)
    spool.append([body(str(i)) for i in range(1, 101)])
    spool.acknowledge(40)
    assert drain(spool)[0] == (41, "41")
    spool.close()


def test_a_large_record_is_read_whole(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), MIB)
    spool.append([body("\0" * 65536)])
    assert drain(spool, 1000) == [(1, "\0" * 65536)]
    spool.close()


def test_the_disk_is_given_back_as_records_are_acknowledged(tmp_path: Path) -> None:
    limit = 64 * 1024
    spool = Spool(str(tmp_path), limit)
    for i in range(2000):
        spool.append([body("x" * 100)])
        if i % 10 == 0:
            drain(spool)
        assert sum(f.stat().st_size for f in tmp_path.glob("*.jsonl")) <= limit // 8 + 2000
    assert spool.last == 2000
    spool.close()


def test_full_at_the_bound_until_something_is_acknowledged(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), 64 * 1024)
    while not full(spool):
        spool.append([body("x" * 1000)])
    assert 64 * 1024 <= spool.size_bytes <= 66 * 1024
    spool.acknowledge(spool.last // 2)
    assert not full(spool)
    drain(spool)
    assert not full(spool)
    spool.close()


def test_one_record_over_the_bound_is_taken_when_nothing_waits(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), 4096)
    assert not full(spool)
    spool.append([body("x" * 9000)])
    assert full(spool)
    drain(spool)
    assert not full(spool)
    spool.close()


def test_numbers_go_on_after_everything_was_acknowledged(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), 4096)
    spool.append([body("x" * 5000)])
    drain(spool)
    spool.close()
    assert Spool(str(tmp_path), 4096).last == 1


def test_numbers_go_on_after_those_that_only_the_server_has(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), MIB)
    spool.append([body("a"), body("b")])
    spool.resume_after(1)
    assert spool.waiting == 2
    spool.resume_after(7)
    spool.append([body("c")])
    assert drain(spool) == [(8, "c")]
    spool.close()
    assert Spool(str(tmp_path), MIB).last == 8


class SmallDisk:
    """Writes as os.pwrite does on a disk with ``room`` bytes left."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, descriptor: int, data: bytes, offset: int) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = os.pwrite(descriptor, data[: self.room], offset)
        self.room -= written
        return written


def test_a_full_disk_changes_nothing_and_the_same_records_can_be_tried_again(
    tmp_path: Path,
) -> None:
    disk = SmallDisk(120)
    spool = Spool(str(tmp_path), MIB, disk.write)
    spool.append([body("a" * 50)])
    with pytest.raises(OSError, match="No space"):
        spool.append([body("b" * 30), body("c" * 50)])
    assert (spool.last, drain(spool)) == (1, [(1, "a" * 50)])
    disk.room = 1000
    spool.append([body("b" * 30), body("c" * 50)])
    assert drain(spool) == [(2, "b" * 30), (3, "c" * 50)]
    spool.close()


def test_a_disk_full_of_acknowledged_records_is_made_room_on(tmp_path: Path) -> None:
    def write(descriptor: int, data: bytes, offset: int) -> int:
        room = 1000 - sum(path.stat().st_size for path in tmp_path.glob("*.jsonl"))
        if room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.pwrite(descriptor, data[:room], offset)

    spool = Spool(str(tmp_path), MIB, write)
    spool.append([body("a" * 900)])
    with pytest.raises(OSError, match="No space"):
        spool.append([body("b" * 200)])
    drain(spool)
    spool.append([body("b" * 200)])
    spool.close()
    assert drain(Spool(str(tmp_path), MIB)) == [(2, "b" * 200)]


def test_a_death_while_a_segment_is_made_anew_doubles_nothing(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), MIB)
    spool.append([body("a"), body("b")])
    spool.close()
    next(tmp_path.glob("*.jsonl")).rename(tmp_path / "0000000000000003.jsonl")
    again = Spool(str(tmp_path), MIB)
    again.append([body("c")])
    assert drain(again) == [(3, "c")]
    again.close()


def test_an_urgent_record_has_room_reserved_on_a_full_disk(tmp_path: Path) -> None:
    reserve = tmp_path / "reserve"
    disk = SmallDisk(0)

    def write(descriptor: int, data: bytes, offset: int) -> int:
        if not reserve.exists():
            disk.room = len(data)
        return disk.write(descriptor, data, offset)

    spool = Spool(str(tmp_path), MIB, write)
    assert reserve.stat().st_size > 10000
    assert spool.append_urgent(body("the disk is full"))
    assert drain(spool) == [(1, "the disk is full")]
    spool.close()


@settings(max_examples=scaled(60), deadline=None)
@given(
    texts=st.lists(st.text(max_size=60), min_size=1, max_size=30),
    crash=st.integers(0, 10_000),
    limit=st.sampled_from([4096, MIB]),
)
def test_a_crash_at_any_byte_keeps_all_before_it(texts: list[str], crash: int, limit: int) -> None:
    """The death of the process tears the last write anywhere."""
    with tempfile.TemporaryDirectory() as directory:
        spool = Spool(directory, limit)
        sizes = []
        for text in texts:
            spool.append([body(text)])
            sizes.append(spool.size_bytes)
        spool.close()
        last = max(Path(directory).glob("*.jsonl"))
        whole = last.stat().st_size
        cut = crash % (whole + 1)
        os.truncate(last, cut)
        survivors = sum(size <= sizes[-1] - whole + cut for size in sizes)
        again = Spool(directory, limit)
        assert (again.acknowledged, again.last) == (0, survivors)
        again.append([body("after")])
        assert [text for _, text in drain(again)] == [*texts[:survivors], "after"]
        again.close()


@given(garbage=st.binary(min_size=1, max_size=200))
def test_garbage_at_the_end_is_cut_off(garbage: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        spool = Spool(directory, MIB)
        spool.append([body("a")])
        spool.close()
        with next(Path(directory).glob("*.jsonl")).open("ab") as file:
            file.write(garbage)
        again = Spool(directory, MIB)
        again.append([body("b")])
        assert drain(again) == [(1, "a"), (2, "b")]
        again.close()


class SpoolMachine(RuleBasedStateMachine):
    """Against a list: appends, partial acknowledgements, deaths and reopenings, small segments."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.mkdtemp()
        self.spool = Spool(self.directory, 4096)
        self.texts: list[str] = []

    @rule(texts=st.lists(st.text(max_size=500), min_size=1, max_size=5))
    def append(self, texts: list[str]) -> None:
        self.spool.append([body(text) for text in texts])
        self.texts += texts

    @precondition(lambda self: self.spool.waiting)
    @rule(data=st.data())
    def acknowledge(self, data: st.DataObject) -> None:
        self.spool.acknowledge(data.draw(st.integers(self.spool.acknowledged, self.spool.last)))

    @rule()
    def die(self) -> None:
        before = self.spool.acknowledged
        self.spool.close()
        self.spool = Spool(self.directory, 4096)
        assert self.spool.acknowledged <= before
        self.spool.acknowledge(before)

    @invariant()
    def nothing_is_missing(self) -> None:
        assert self.spool.last == len(self.texts)
        batch = self.spool.read(1000)
        for record in json.loads(b"[" + batch.body + b"]"):
            assert record["m"] == self.texts[record["n"] - 1]
        if self.spool.waiting:
            assert json.loads(b"[" + batch.body + b"]")[0]["n"] == self.spool.acknowledged + 1

    def teardown(self) -> None:
        self.spool.close()
        shutil.rmtree(self.directory)


TestSpoolMachine = SpoolMachine.TestCase
TestSpoolMachine.settings = settings(max_examples=scaled(40), stateful_step_count=30, deadline=None)
