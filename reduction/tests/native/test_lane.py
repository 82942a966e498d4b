"""What a lane does with workers that are lost, late, of another mind, or hostile."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footplate_reduction.frames import (
    LONGEST_CHUNK,
    NOBODY,
    FrameType,
    Header,
    Op,
    WireType,
)
from footplate_reduction.limits import Limits
from footplate_reduction.native import lane as lane_module
from reduction.tests.native.lanes import PATIENT, Lanes
from reduction.tests.raw_protocol import Raw
from reduction.tests.rig import LONG_S
from tests.support.profiles import scaled

ONE = struct.pack("<4f", 1, 2, 3, 4)


@contextmanager
def lane(world: int, limits: Limits = PATIENT) -> Iterator[tuple[Lanes, list[Raw]]]:
    with Lanes(world, limits=limits) as lanes:
        ends = [of_worker[0] for of_worker in lanes.connections]
        yield lanes, [Raw(end, rank) for rank, end in enumerate(ends)]


def everybody_hears(lanes: Lanes, hearers: list[Raw], culprit: int | None, *words: str) -> None:
    """The same sentence, which has all ``words``; also who runs the lane hears it."""
    errors = [hearer.expect_error() for hearer in hearers]
    assert errors == [errors[0]] * len(errors)
    rank, sentence = errors[0]
    assert rank == (NOBODY if culprit is None else culprit)
    loss = lanes.loss()
    assert str(loss) == sentence
    assert loss.culprit == culprit
    for word in words:
        assert word in sentence


def test_a_result_is_what_the_protocol_says() -> None:
    with lane(2) as (lanes, workers):
        for worker in workers:
            worker.data(ONE, seq=9, offset=640)
        for worker in workers:
            header, payload = worker.receive()
            assert header == Header(FrameType.RESULT, seq=9, nbytes=16, offset=640)
            assert payload == struct.pack("<4f", 2, 4, 6, 8)
            worker.bye()
        assert lanes.outcome() is None


@pytest.mark.parametrize("how", [Raw.close, Raw.reset])
def test_a_worker_that_is_lost_in_a_collective_is_named(how: Callable[[Raw], None]) -> None:
    with lane(3) as (lanes, workers):
        workers[0].data(ONE, seq=17)
        workers[2].data(ONE, seq=17)
        how(workers[1])
        everybody_hears(lanes, [workers[0], workers[2]], 1, "worker 1", "collective 17")


def test_a_worker_that_is_lost_between_collectives_is_named() -> None:
    with lane(2) as (lanes, workers):
        for worker in workers:
            worker.data(ONE, seq=4)
        for worker in workers:
            worker.receive()
        workers[0].close()
        everybody_hears(lanes, [workers[1]], 0, "worker 0", "collective 4")


def test_a_worker_that_is_lost_with_half_a_frame_sent_is_named() -> None:
    with lane(2) as (lanes, workers):
        header = Header(FrameType.DATA, nbytes=16, rank=1)
        workers[1].connection.sendall(header.pack() + ONE[:5])
        workers[1].close()
        everybody_hears(lanes, [workers[0]], 1, "worker 1")


def test_a_worker_may_leave_before_the_others() -> None:
    with lane(2) as (lanes, workers):
        workers[0].bye()
        workers[0].close()
        workers[1].bye()
        assert lanes.outcome() is None


@pytest.mark.parametrize("first", ["bye", "data"])
def test_a_worker_that_left_while_others_go_on_is_named(first: str) -> None:
    with lane(2) as (lanes, workers):
        if first == "data":
            workers[0].data(ONE, seq=3)
            workers[1].bye()
        else:
            workers[1].bye()
            assert workers[1].connection.recv(1) == b""
            workers[0].data(ONE, seq=3)
        everybody_hears(lanes, [workers[0]], 1, "worker 1", "left", "collective 3")


def test_a_worker_that_leaves_before_its_answer_came_is_named() -> None:
    with lane(2) as (lanes, workers):
        workers[0].data(ONE, seq=5)
        workers[0].bye()
        everybody_hears(lanes, [workers[1]], 0, "worker 0", "collective 5")


@pytest.mark.parametrize("culprit", [2, 0, None])
def test_what_a_worker_tells_is_passed_on_as_it_is(culprit: int | None) -> None:
    with lane(3) as (lanes, workers):
        workers[1].data(ONE)
        workers[0].error("reducer 10.0.0.9:7700 was lost, güle güle", culprit)
        message = "reducer 10.0.0.9:7700 was lost, güle güle"
        everybody_hears(lanes, [workers[1], workers[2]], culprit, message)


def test_a_culprit_that_is_not_of_the_world_is_the_one_that_said_so() -> None:
    with lane(2) as (lanes, workers):
        workers[0].error("it was 77", 77)
        everybody_hears(lanes, [workers[1]], 0)


def test_what_a_worker_said_before_it_was_killed_is_heard() -> None:
    """Results that can't be delivered are no reason to overlook its last words."""
    with lane(2) as (lanes, workers):
        workers[0].data(ONE)
        workers[0].error("out of cheese", 0)
        workers[1].data(ONE)
        everybody_hears(lanes, [workers[1]], 0, "out of cheese")


def test_who_is_late_is_named() -> None:
    with lane(4, Limits(timeout_s=LONG_S, patience_s=1.0)) as (lanes, workers):
        workers[0].data(ONE, seq=8)
        workers[2].data(ONE, seq=8)
        everybody_hears(lanes, workers, 1, "workers 1, 3", "collective 8", "1 s")


def test_a_worker_that_is_late_with_half_of_its_part_is_named() -> None:
    with lane(2, Limits(timeout_s=LONG_S, patience_s=1.0)) as (lanes, workers):
        workers[0].data(ONE)
        header = Header(FrameType.DATA, nbytes=16, rank=1)
        workers[1].connection.sendall(header.pack() + ONE[:5])
        everybody_hears(lanes, workers, 1, "worker 1")


THIS = Header(FrameType.DATA, seq=7, nbytes=16)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (THIS._replace(seq=8), ("collective 7", "collective 8")),
        (THIS._replace(offset=64), ("64",)),
        (THIS._replace(total=8), ("of 0", "of 8")),
        (THIS._replace(nbytes=8), ("16", "8")),
        (THIS._replace(wire=WireType.FLOAT16), ("float32", "float16")),
        (THIS._replace(op=Op.AVERAGE), ("sum", "average")),
    ],
)
def test_workers_of_another_mind_are_both_named(other: Header, words: tuple[str, ...]) -> None:
    with lane(3) as (lanes, workers):
        workers[0].send(THIS, ONE)
        workers[2].send(other._replace(rank=2), ONE[: other.nbytes])
        everybody_hears(lanes, workers, None, "worker 0", "worker 2", *words)


def test_a_reducer_that_is_to_end_says_so() -> None:
    with lane(2) as (lanes, workers):
        workers[0].data(ONE)
        here = "{}:{}".format(*workers[0].connection.getpeername())
        lanes.end()
        everybody_hears(lanes, workers, None, here, "told to end")


def test_a_worker_that_is_ahead_is_held_back_and_served() -> None:
    """Both send all that their sockets take, far more than the window, and read it back slowly."""
    chunk, count = 1 << 20, 24
    with lane(2) as (lanes, workers):

        def send_all(worker: Raw) -> None:
            for index in range(count):
                worker.data(bytes(chunk), offset=index * chunk)

        threads = [threading.Thread(target=send_all, args=(each,)) for each in workers]
        for thread in threads:
            thread.start()
        for index in range(count):
            for worker in workers:
                header, payload = worker.receive()
                assert header.offset == index * chunk
                assert payload == bytes(chunk)
        for worker, thread in zip(workers, threads, strict=True):
            thread.join()
            worker.bye()
        assert lanes.outcome() is None


def test_chunks_that_came_at_once_are_answered_without_another_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The window holds one of the two; the other is added when the first is on its way."""
    window = 1 << 14
    monkeypatch.setattr(lane_module, "WINDOW", window)
    offsets = [0, window - len(ONE)]

    def send(rank: int, end: socket.socket) -> None:
        for offset in offsets:
            Raw(end, rank).data(bytes(offsets[1]), offset=offset)

    with Lanes(2, first=send) as lanes:
        workers = [Raw(end, rank) for rank, (end,) in enumerate(lanes.connections)]
        for worker in workers:
            assert [worker.receive()[0].offset for _ in offsets] == offsets
            worker.bye()
        assert lanes.outcome() is None


def test_a_worker_that_takes_no_results_is_lost_after_the_timeout() -> None:
    """It answers for itself, but nothing can be delivered to it: so nobody can go on."""
    chunk = bytes(1 << 20)
    with lane(2, Limits(timeout_s=1.0, patience_s=LONG_S)) as (lanes, workers):
        said = Header(FrameType.RESULT), b""
        while said[0].type is FrameType.RESULT:
            for worker in workers:
                worker.data(chunk)
            said = workers[1].receive()
        assert said[0].type is FrameType.ERROR
        assert said[0].rank == lanes.loss().culprit == 0
        assert said[1].startswith(b"worker 0 was lost")


wrong = [
    Header(FrameType.DATA, nbytes=16, rank=0),
    Header(FrameType.DATA, nbytes=0, rank=1),
    Header(FrameType.DATA, nbytes=6, rank=1),
    Header(FrameType.DATA, nbytes=LONGEST_CHUNK + 4, rank=1),
    Header(FrameType.DATA, nbytes=(1 << 32) - 4, rank=1),
    Header(FrameType.RESULT, nbytes=16, rank=1),
    Header(FrameType.HELLO, nbytes=16, rank=1),
    Header(FrameType.CHALLENGE, rank=1),
    Header(FrameType.WELCOME, rank=1),
    Header(FrameType.BYE, nbytes=16, rank=1),
    Header(FrameType.ERROR, nbytes=1025, rank=1),
]


@pytest.mark.parametrize("header", wrong, ids=[f"{each.type.name}-{each.nbytes}" for each in wrong])
def test_a_frame_that_no_worker_may_send_ends_the_group_and_names_it(header: Header) -> None:
    with lane(2) as (lanes, workers):
        workers[0].data(ONE)
        workers[1].send(header, ONE)
        everybody_hears(lanes, workers, 1, "worker 1")


def _mutated(frames: bytes, flips: list[tuple[int, int]]) -> bytes:
    changed = bytearray(frames)
    for at, value in flips:
        changed[at % len(changed)] ^= value
    return bytes(changed)


whole = b"".join(
    Header(FrameType.DATA, seq=seq, nbytes=16, rank=1).pack() + ONE for seq in range(3)
)
hostile = st.binary(min_size=1, max_size=200) | st.builds(
    _mutated,
    st.just(whole),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(1, 255)), min_size=1, max_size=6),
)


@given(said=hostile)
@settings(max_examples=scaled(150), deadline=None)
def test_whatever_a_worker_sends_the_lane_ends_and_nobody_else_is_named(said: bytes) -> None:
    """Bytes of payloads may be any; then its end without BYE is what ends the group."""
    with lane(2) as (lanes, workers):
        for seq in range(3):
            workers[0].data(ONE, seq=seq)
        workers[1].connection.sendall(said)
        workers[1].close()
        rank, sentence = workers[0].expect_error()
        assert rank != 0
        assert "worker 1" in sentence or rank in (1, NOBODY)
        assert str(lanes.loss()) == sentence
