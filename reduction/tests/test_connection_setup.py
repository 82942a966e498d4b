"""How workers come to their reducers, whatever is there first."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from footplate_reduction import Client, Limits, ReductionError, WireType, connect
from footplate_reduction.frames import NOBODY, FrameType, Header
from footplate_reduction.handshake_frames import Challenge, Hello, challenge_frame
from reduction.tests.raw_protocol import Raw
from reduction.tests.rig import JOB, LONG_S, TOKEN, as_workers

if TYPE_CHECKING:
    from reduction.tests.rig import ReducerProcesses

PATIENT = Limits(timeout_s=LONG_S, patience_s=LONG_S)
BRIEF = Limits(timeout_s=0.5, patience_s=0.5)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


def come(
    *reducers: str, rank: int = 0, world: int = 1, limits: Limits = PATIENT, token: str = TOKEN
) -> Client:
    return connect(reducers, rank=rank, world=world, job=JOB, token=token, group="g", limits=limits)


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return "{}:{}".format(*listener.getsockname())


class FalseReducer:
    """A listener that is no reducer, or a wrong one."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(LONG_S)
        self.address = "{}:{}".format(*self._listener.getsockname())

    def accept(self) -> Raw:
        return Raw(self._listener.accept()[0])

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def false_reducer() -> Iterator[FalseReducer]:
    made = FalseReducer()
    yield made
    made.close()


def test_a_worker_waits_for_its_reducer_to_start(
    reducers: ReducerProcesses, pool: ThreadPoolExecutor
) -> None:
    address = free_address()
    coming = pool.submit(come, address)
    host_port = ("--port", address.rpartition(":")[2])
    reducers.start(1, *host_port)
    coming.result(LONG_S).close()


def test_a_reducer_that_never_comes_is_named() -> None:
    address = free_address()
    with pytest.raises(ReductionError, match=f"reducer {address} could not be reached") as raised:
        come(address, limits=BRIEF)
    assert raised.value.culprit is None


def test_a_loss_is_heard_while_another_reducer_is_not_there_yet(
    reducers: ReducerProcesses, pool: ThreadPoolExecutor
) -> None:
    (there,) = reducers.start()
    coming = pool.submit(come, there.address, free_address(), world=2)
    there.await_line("worker 0 of 2 joined")
    other = Raw.to(there.address)
    other.hello(Hello(JOB, "g", 1, 2, 0, LONG_S, LONG_S))
    assert other.welcomed()
    other.close()
    with pytest.raises(ReductionError, match="worker 1 was lost"):
        coming.result(LONG_S)


def test_another_token_is_refused_at_once(reducers: ReducerProcesses) -> None:
    (reducer,) = reducers.start()
    with pytest.raises(ReductionError, match=f"^reducer {reducer.address}: token: "):
        come(reducer.address, token="not the token at all")


def test_a_reducer_that_does_not_have_the_token_is_not_trusted(
    false_reducer: FalseReducer, pool: ThreadPoolExecutor
) -> None:
    coming = pool.submit(come, false_reducer.address)
    worker = false_reducer.accept()
    worker.connection.sendall(challenge_frame(Challenge("ab" * 32, 1)))
    header, hello = worker.receive()
    assert header.type is FrameType.HELLO
    assert TOKEN.encode() not in hello
    payload = b'{"proof": "' + b"0" * 64 + b'"}'
    worker.send(Header(FrameType.WELCOME, nbytes=len(payload)), payload)
    with pytest.raises(ReductionError, match="token: "):
        coming.result(LONG_S)
    worker.close()


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 400 Bad Request\r\n\r\n" + b" " * 32, Header(FrameType.BYE).pack()]
)
def test_what_is_no_reducer_is_told_so(
    false_reducer: FalseReducer, pool: ThreadPoolExecutor, said: bytes
) -> None:
    coming = pool.submit(come, false_reducer.address)
    worker = false_reducer.accept()
    worker.connection.sendall(said)
    with pytest.raises(ReductionError, match="of this protocol"):
        coming.result(LONG_S)
    worker.close()


def test_a_reducer_that_restarts_before_all_are_there_is_joined_again(
    false_reducer: FalseReducer, pool: ThreadPoolExecutor
) -> None:
    coming = pool.submit(come, false_reducer.address, world=2)
    for _ in range(2):
        worker = false_reducer.accept()
        worker.connection.sendall(challenge_frame(Challenge("ab" * 32, 1)))
        assert worker.receive()[0].type is FrameType.HELLO
        worker.close()
    worker = false_reducer.accept()
    worker.error("enough")
    with pytest.raises(ReductionError, match="enough"):
        coming.result(LONG_S)
    worker.close()


def test_reducers_of_unlike_lanes_are_both_named(reducers: ReducerProcesses) -> None:
    (one,) = reducers.start(1)
    (two,) = reducers.start(1, "--lanes", "2")
    with pytest.raises(ReductionError, match="have 1 and 2 lanes") as raised:
        come(one.address, two.address)
    assert one.address in str(raised.value)
    assert two.address in str(raised.value)


def test_who_gives_up_tells_those_that_have_begun(
    reducers: ReducerProcesses, pool: ThreadPoolExecutor
) -> None:
    """A worker that can't reach one reducer is no riddle to those who wait at the other."""
    (there,) = reducers.start()
    absent = free_address()
    coming = pool.submit(come, there.address, absent, world=2, limits=BRIEF)
    there.await_line("worker 0 of 2 joined")
    other = Raw.to(there.address)
    other.hello(Hello(JOB, "g", 1, 2, 0, 0.5, 0.5))
    assert other.welcomed()
    rank, sentence = other.expect_error()
    assert (rank, sentence.startswith(f"reducer {absent} could not be reached")) == (NOBODY, True)
    with pytest.raises(ReductionError, match="could not be reached"):
        coming.result(LONG_S)
    other.close()


def test_endpoints_are_the_same_for_all_workers_whoever_comes_first(
    reducers: ReducerProcesses,
) -> None:
    """Chunks of the wrong endpoint would be of no plan: sums over many lanes show the order."""
    addresses = [each.address for each in reducers.start(2, "--lanes", "3")]

    def act(client: Client) -> bytes:
        vector = bytearray(b"\0\0\x80\x3f" * 100_000)
        client.all_reduce(vector, WireType.FLOAT32)
        return bytes(vector)

    assert as_workers(2, addresses, act) == [b"\0\0\0\x40" * 100_000] * 2


def test_wrong_ranks_are_refused_before_anything_is_sent() -> None:
    for rank, world in ((-1, 1), (1, 1), (0, 0), (0, 4097)):
        with pytest.raises(ValueError, match="with ranks from 0"):
            come("127.0.0.1:1", rank=rank, world=world)


def test_many_come_and_go_at_once_in_one_process(reducers: ReducerProcesses) -> None:
    (reducer,) = reducers.start(1)

    def group(name: int) -> list[int]:
        return as_workers(2, [reducer.address], lambda client: client.rank, group=str(name))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(group, range(40), timeout=LONG_S)) == [[0, 1]] * 40
