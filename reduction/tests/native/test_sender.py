"""What a sender does with reducers that are lost, silent, or hostile."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footplate_reduction.chunk_plan import credit_bytes, plan
from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import NOBODY, FrameType, Header, Op, WireType
from footplate_reduction.limits import Limits
from footplate_reduction.native.sender import Sender
from reduction.tests.native.lanes import PATIENT, connected
from reduction.tests.raw_protocol import Raw
from reduction.tests.rig import LONG_S
from tests.support.profiles import scaled

RANK, WORLD = 1, 4


@contextmanager
def worker(reducers: int = 2, limits: Limits = PATIENT) -> Iterator[tuple[Sender, list[Raw]]]:
    pairs = [connected(limits.timeout_s) for _ in range(reducers)]
    sender = Sender([one for one, _ in pairs], RANK, WORLD, limits)
    try:
        yield sender, [Raw(other) for _, other in pairs]
    finally:
        for _, other in pairs:
            other.close()
        sender.close()


def address(reducer: Raw) -> str:
    return "{}:{}".format(*reducer.connection.getsockname())


def expect_data(reducer: Raw) -> tuple[Header, bytes]:
    header, payload = reducer.receive()
    assert header.type is FrameType.DATA
    assert header.rank == RANK
    return header, payload


def answer(reducer: Raw, header: Header, payload: bytes) -> None:
    reducer.send(header._replace(type=FrameType.RESULT, rank=0), payload)


def last_frame(reducer: Raw) -> tuple[Header, bytes]:
    """The last that a worker says: nothing follows it."""
    header, payload = reducer.receive()
    while header.type is FrameType.DATA:
        header, payload = reducer.receive()
    reducer.connection.shutdown(socket.SHUT_WR)
    assert reducer.connection.recv(1) == b""
    return header, payload


def test_a_vector_travels_as_planned_and_comes_back() -> None:
    vector = bytearray(bytes(range(256)) * 100)
    with worker() as (sender, reducers):
        pending = sender.start(memoryview(vector), WireType.FLOAT64, Op.AVERAGE)
        planned = plan(len(vector), 0, 2, WORLD, PATIENT)
        for index, reducer in enumerate(reducers):
            for offset, nbytes in planned.chunks(index):
                header, payload = expect_data(reducer)
                assert header == Header(
                    FrameType.DATA, WireType.FLOAT64, Op.AVERAGE, 0, nbytes, offset, RANK, 3200
                )
                assert payload == (bytes(range(256)) * 100)[offset : offset + nbytes]
                answer(reducer, header, payload[::-1])
        pending.wait()
        for begin, end in planned.shards:
            for offset in range(begin, end, planned.chunk_bytes):
                chunk = slice(offset, min(offset + planned.chunk_bytes, end))
                assert vector[chunk] == (bytes(range(256)) * 100)[chunk][::-1]


def test_no_more_is_under_way_than_the_credit_allows() -> None:
    limits = Limits(LONG_S, LONG_S, budget_bytes=64 << 10, chunk_bytes=1 << 10)
    credit = credit_bytes(limits, WORLD, 1)
    with worker(1, limits) as (sender, [reducer]):
        sender.start(memoryview(bytearray(credit * 8)), WireType.FLOAT32, Op.SUM)
        sent = [expect_data(reducer) for _ in range(credit >> 10)]
        answer(reducer, *sent[0])
        expect_data(reducer)
        reducer.error("enough")
        reducer.connection.shutdown(socket.SHUT_WR)
        rest = reducer.connection.recv(1 << 20)
        assert rest[4:5] in (b"", bytes([FrameType.ERROR]))  # no DATA


def test_collectives_follow_each_other_without_waiting() -> None:
    with worker(1) as (sender, [reducer]):
        vectors = [bytearray(struct.pack("<f", number)) for number in range(3)]
        pending = [sender.start(memoryview(each), WireType.FLOAT32, Op.SUM) for each in vectors]
        for header, payload in [expect_data(reducer) for _ in range(3)]:
            answer(reducer, header, struct.pack("<f", 10 + struct.unpack("<f", payload)[0]))
        for each in reversed(pending):
            each.wait()
        assert [struct.unpack("<f", each)[0] for each in vectors] == [10, 11, 12]


def test_a_worker_that_is_through_says_bye() -> None:
    with worker() as (sender, reducers):
        sender.close()
        for reducer in reducers:
            header, _ = last_frame(reducer)
            assert header == Header(FrameType.BYE, rank=RANK)
        sender.close()


@pytest.mark.parametrize("why", ["ValueError: no", None])
def test_a_worker_that_leaves_in_the_middle_says_why(why: str | None) -> None:
    with worker() as (sender, reducers):
        pending = sender.start(memoryview(bytearray(1 << 20)), WireType.FLOAT32, Op.SUM)
        expect_data(reducers[0])
        sender.close(why)
        for reducer in reducers:
            header, payload = last_frame(reducer)
            assert header.type is FrameType.ERROR
            assert header.rank == RANK
            assert f"worker {RANK} left" in payload.decode()
            assert (why or "") in payload.decode()
        with pytest.raises(ReductionError, match="worker 1 left"):
            pending.wait()


@pytest.mark.parametrize(("rank", "culprit"), [(3, 3), (NOBODY, None)])
def test_what_a_reducer_tells_is_raised_and_told_to_the_others(
    rank: int, culprit: int | None
) -> None:
    with worker(3) as (sender, reducers):
        pending = sender.start(memoryview(bytearray(1 << 20)), WireType.FLOAT32, Op.SUM)
        reducers[1].error("worker 3 was lost", culprit)
        with pytest.raises(ReductionError, match="worker 3 was lost") as raised:
            pending.wait()
        assert raised.value.culprit == culprit
        for other in (reducers[0], reducers[2]):
            header, payload = last_frame(other)
            assert header.type is FrameType.ERROR
            assert header.rank == rank
            assert payload.decode() == "worker 3 was lost"


@pytest.mark.parametrize("how", [Raw.close, Raw.reset])
def test_a_reducer_that_is_lost_is_named_by_its_address(how: Callable[[Raw], None]) -> None:
    with worker() as (sender, reducers):
        lost = address(reducers[0])
        pending = sender.start(memoryview(bytearray(1 << 20)), WireType.FLOAT32, Op.SUM)
        expect_data(reducers[0])
        how(reducers[0])
        with pytest.raises(ReductionError, match="collective 0") as raised:
            pending.wait()
        assert f"reducer {lost}" in str(raised.value)
        assert raised.value.culprit is None
        header, payload = last_frame(reducers[1])
        assert (header.type, header.rank) == (FrameType.ERROR, NOBODY)
        assert payload.decode() == str(raised.value)


def test_a_loss_between_collectives_is_raised_by_the_next_one() -> None:
    with worker() as (sender, reducers):
        reducers[0].error("worker 2 was lost", 2)
        last_frame(reducers[1])
        with pytest.raises(ReductionError, match="worker 2 was lost") as raised:
            sender.start(memoryview(bytearray(8)), WireType.FLOAT32, Op.SUM).wait()
        assert raised.value.culprit == 2


def test_all_that_was_started_is_raised() -> None:
    with worker(1) as (sender, [reducer]):
        started = [
            sender.start(memoryview(bytearray(1 << 20)), WireType.FLOAT32, Op.SUM) for _ in range(3)
        ]
        reducer.close()
        for pending in started:
            with pytest.raises(ReductionError, match="was lost"):
                pending.wait()


def test_a_reducer_that_gives_no_answer_is_given_up() -> None:
    limits = Limits(timeout_s=1.0, patience_s=1.0)
    with worker(2, limits) as (sender, reducers):
        silent = address(reducers[1])
        pending = sender.start(memoryview(bytearray(1 << 15)), WireType.FLOAT32, Op.SUM)
        for offset, _ in plan(1 << 15, 0, 2, WORLD, limits).chunks(0):
            header, payload = expect_data(reducers[0])
            assert header.offset == offset
            answer(reducers[0], header, payload)
        with pytest.raises(ReductionError, match="no answer") as raised:
            pending.wait()
        assert silent in str(raised.value)


def _wrong_answers(right: Header) -> list[tuple[str, Header]]:
    return [
        ("seq", right._replace(seq=right.seq + 1)),
        ("offset", right._replace(offset=right.offset + 64)),
        ("size", right._replace(nbytes=right.nbytes - 4)),
        ("larger", right._replace(nbytes=1 << 31)),
        ("total", right._replace(total=right.total + 1)),
        ("wire", right._replace(wire=WireType.FLOAT16)),
        ("op", right._replace(op=Op.AVERAGE)),
        ("type", right._replace(type=FrameType.DATA)),
        ("greeting", right._replace(type=FrameType.WELCOME)),
        ("error", right._replace(type=FrameType.ERROR, nbytes=1025)),
    ]


_RIGHT = Header(FrameType.RESULT, nbytes=2048, total=512)


@pytest.mark.parametrize(
    "wrong",
    [each for _, each in _wrong_answers(_RIGHT)],
    ids=[n for n, _ in _wrong_answers(_RIGHT)],
)
def test_an_answer_that_was_not_asked_for_is_a_loss_of_that_reducer(wrong: Header) -> None:
    with worker() as (sender, reducers):
        bad = address(reducers[0])
        vector = bytearray(2048)
        pending = sender.start(memoryview(vector), WireType.FLOAT32, Op.SUM)
        expect_data(reducers[0])
        reducers[0].send(wrong, b"\1" * 2048)
        with pytest.raises(ReductionError, match="reducer") as raised:
            pending.wait()
        assert bad in str(raised.value)
        assert vector == bytes(2048)


@given(said=st.binary(max_size=100))
@settings(max_examples=scaled(100), deadline=None)
def test_whatever_a_reducer_says_the_worker_raises_and_the_others_hear_of_it(said: bytes) -> None:
    with worker() as (sender, reducers):
        pending = sender.start(memoryview(bytearray(64)), WireType.FLOAT32, Op.SUM)
        expect_data(reducers[0])
        reducers[0].connection.sendall(said)
        reducers[0].close()
        header, _ = last_frame(reducers[1])
        assert header.type is FrameType.ERROR
        with pytest.raises(ReductionError):
            pending.wait()


def test_an_empty_vector_needs_nobody() -> None:
    with worker(1) as (sender, [reducer]):
        sender.start(memoryview(bytearray()), WireType.FLOAT32, Op.SUM).wait()
        sender.start(memoryview(bytearray(4)), WireType.FLOAT32, Op.SUM)
        header, _ = expect_data(reducer)
        assert header.seq == 1
