"""Who may come in to a reducer, and that nobody who may not keeps it from its work."""

from __future__ import annotations

import contextlib
import itertools
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate_reduction.client import Client, WireType
from footplate_reduction.frames import HEADER_BYTES, NOBODY, FrameType, Header
from footplate_reduction.handshake_frames import Challenge, Hello, hello_frame
from reduction.tests.raw_protocol import Raw
from reduction.tests.rig import JOB, TOKEN, ReducerProcess, as_workers
from tests.support.profiles import scaled

_numbers = itertools.count()
HELLO = Hello(JOB, "g", 0, 2, 0, 30.0, 30.0)


@pytest.fixture(scope="module")
def reducer() -> Iterator[ReducerProcess]:
    started = ReducerProcess("--lanes", "2", under=("env",))  # not forked: its memory is measured
    yield started
    started.close()


@pytest.fixture(autouse=True)
def _serves_on(reducer: ReducerProcess, request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    assert serves(reducer, request.node.name)


def serves(reducer: ReducerProcess, group: str) -> bool:
    def act(client: Client) -> list[float]:
        vector = np.ones(5000, np.float32)
        client.all_reduce(vector, WireType.FLOAT32)
        return [float(vector.min()), float(vector.max())]

    return as_workers(2, [reducer.address], act, group=group) == [[2.0, 2.0]] * 2


def memory_kib(reducer: ReducerProcess, kind: str) -> int:
    with open(f"/proc/{reducer.process.pid}/status") as status:
        (line,) = [line for line in status if line.startswith(kind)]
    return int(line.split()[1])


def refusal(handshake: Raw) -> str:
    rank, sentence = handshake.expect_error()
    assert rank == NOBODY
    handshake.close()
    return sentence


def refused(reducer: ReducerProcess, hello: Hello, token: str = TOKEN) -> str:
    handshake = Raw.to(reducer.address)
    handshake.hello(hello, token)
    return refusal(handshake)


def test_a_challenge_is_a_new_one_for_everybody(reducer: ReducerProcess) -> None:
    handshakes = [Raw.to(reducer.address) for _ in range(3)]
    challenges = {handshake.challenge() for handshake in handshakes}
    assert len(challenges) == 3
    assert {challenge.lanes for challenge in challenges} == {2}
    for handshake in handshakes:
        handshake.close()


@pytest.mark.parametrize(
    ("hello", "token", "word"),
    [
        (HELLO, "not the token at all", "token: "),
        (HELLO._replace(job="other"), TOKEN, "job: "),
        (HELLO._replace(lane=2), TOKEN, "lane: "),
        (HELLO._replace(rank=2), TOKEN, "rank: "),
        (HELLO._replace(world=5000), TOKEN, "world: "),
        (HELLO._replace(patience_s=float("nan")), TOKEN, "patience: "),
    ],
)
def test_a_wrong_handshake_is_refused_with_the_reason(
    reducer: ReducerProcess, hello: Hello, token: str, word: str
) -> None:
    assert refused(reducer, hello, token).startswith(word)


def test_another_version_is_refused(reducer: ReducerProcess) -> None:
    handshake = Raw.to(reducer.address)
    handshake.challenge()
    payload = b'{"version": 2}'
    handshake.send(Header(FrameType.HELLO, nbytes=len(payload)), payload)
    assert refusal(handshake).startswith("version: ")


def test_a_hello_that_was_overheard_is_of_no_use(reducer: ReducerProcess) -> None:
    worker = Raw.to(reducer.address)
    said = worker.hello(HELLO._replace(group="overheard"))
    thief = Raw.to(reducer.address)
    thief.challenge()
    thief.connection.sendall(said)
    assert refusal(thief).startswith("token: ")
    worker.close()


def test_a_rank_comes_once(reducer: ReducerProcess) -> None:
    first = Raw.to(reducer.address)
    first.hello(HELLO._replace(group="once"))
    reducer.await_line("group once lane 0: worker 0 of 2 joined")
    assert refused(reducer, HELLO._replace(group="once")).startswith("taken: ")
    other = Raw.to(reducer.address)
    other.hello(HELLO._replace(group="once", rank=1))
    assert first.welcomed()
    assert other.welcomed()
    assert refused(reducer, HELLO._replace(group="once")).startswith("taken: ")
    for each in (first, other):
        each.bye()
        each.close()


@pytest.mark.parametrize(
    "change",
    [{"world": 3}, {"timeout_s": 31.0}, {"patience_s": 31.0}],
    ids=["world", "timeout", "patience"],
)
def test_all_workers_of_a_group_say_the_same(
    reducer: ReducerProcess, change: dict[str, float]
) -> None:
    group = f"same-{next(iter(change))}"
    first = Raw.to(reducer.address)
    first.hello(HELLO._replace(group=group))
    reducer.await_line(f"group {group} lane 0: worker 0")
    other = Hello(**{**HELLO._asdict(), "group": group, "rank": 1, **change})
    assert refused(reducer, other).startswith("world: ")
    first.close()


def test_a_worker_that_is_gone_before_all_are_there_may_come_again(
    reducer: ReducerProcess,
) -> None:
    gone = Raw.to(reducer.address)
    gone.hello(HELLO._replace(group="again"))
    reducer.await_line("group again lane 0: worker 0 of 2 joined")
    gone.close()
    reducer.await_line("group again lane 0: worker 0 left")
    assert serves(reducer, "again")


def test_a_waiting_worker_that_leaves_with_a_reason_ends_the_group(
    reducer: ReducerProcess,
) -> None:
    members = [Raw.to(reducer.address) for _ in range(2)]
    for rank, member in enumerate(members):
        member.hello(HELLO._replace(group="reason", world=3, rank=rank))
        reducer.await_line(f"group reason lane 0: worker {rank} of 3 joined")
    members[0].error("reducer 10.0.0.9:7700 was lost")
    assert members[1].expect_error() == (NOBODY, "reducer 10.0.0.9:7700 was lost")
    for member in members:
        member.close()


def test_a_waiting_worker_that_sends_what_it_may_not_is_put_out(reducer: ReducerProcess) -> None:
    member = Raw.to(reducer.address)
    member.hello(HELLO._replace(group="early"))
    reducer.await_line("group early lane 0: worker 0 of 2 joined")
    member.data(b"1234")
    assert member.at_end()
    member.close()


def test_workers_that_do_not_come_are_named(reducer: ReducerProcess) -> None:
    member = Raw.to(reducer.address)
    member.hello(HELLO._replace(group="late", world=4, rank=2, patience_s=0.1))
    rank, sentence = member.expect_error()
    assert rank == 0
    assert sentence == "workers that did not connect within 0.1 s: 0, 1, 3"
    member.close()


def test_who_has_lost_one_lane_is_told_on_the_other(reducer: ReducerProcess) -> None:
    """Worker 1 is lost on lane 0, which has begun, before it has come to lane 1."""
    hello = HELLO._replace(group="lanes")
    lane_0 = [Raw.to(reducer.address) for _ in range(2)]
    for rank, member in enumerate(lane_0):
        member.hello(hello._replace(rank=rank))
    lane_1 = Raw.to(reducer.address)
    lane_1.hello(hello._replace(lane=1))
    reducer.await_line("group lanes lane 1: worker 0 of 2 joined")
    assert all(member.welcomed() for member in lane_0)
    lane_0[1].close()
    rank, sentence = lane_1.expect_error()
    assert rank == 1
    assert "worker 1 was lost" in sentence
    for member in (lane_0[0], lane_1):
        member.close()


def test_a_worker_that_floods_a_reducer_does_not_fill_its_memory(
    reducer: ReducerProcess,
) -> None:
    flooder = Raw.to(reducer.address)
    flooder.hello(HELLO._replace(group="flood", patience_s=2.0))
    other = Raw.to(reducer.address)
    other.hello(HELLO._replace(group="flood", rank=1, patience_s=2.0))
    assert flooder.welcomed()
    assert other.welcomed()
    chunk = bytes(1 << 20)
    with contextlib.suppress(OSError):
        for index in range(1024):
            flooder.data(chunk, offset=index << 20)
    rank, sentence = other.expect_error()
    assert rank == 1, sentence
    assert memory_kib(reducer, "VmHWM") < 100_000
    for each in (flooder, other):
        each.close()


def test_only_so_many_groups_are_open_at_once(reducer: ReducerProcess) -> None:
    members = [Raw.to(reducer.address) for _ in range(65)]
    for index, member in enumerate(members):
        member.hello(HELLO._replace(group=f"open-{index}"))
    assert refusal(members[-1]).startswith("group: ")
    for member in members[:-1]:
        member.close()
    reducer.await_line("group open-63 lane 0: worker 0 left")


def test_what_is_too_long_is_refused_unread(reducer: ReducerProcess) -> None:
    handshake = Raw.to(reducer.address)
    handshake.challenge()
    handshake.send(Header(FrameType.HELLO, nbytes=4097))
    assert "not a handshake" in refusal(handshake)


def test_who_says_nothing_is_put_out(reducer: ReducerProcess) -> None:
    silent, slow = Raw.to(reducer.address), Raw.to(reducer.address)
    silent.challenge()
    slow.challenge()
    slow.connection.sendall(Header(FrameType.HELLO, nbytes=100).pack()[:-1])
    for handshake in (silent, slow):
        assert refusal(handshake) == "the worker sent no HELLO in time"


def test_a_thousand_unauthenticated_connections_do_not_keep_workers_out(
    reducer: ReducerProcess,
) -> None:
    """They neither say anything nor leave."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("needs 2,000 descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    host, _, port = reducer.address.rpartition(":")
    with ExitStack() as handshakes:
        for _ in range(1000):
            handshakes.enter_context(socket.create_connection((host, int(port))))
        assert serves(reducer, "among strangers")
        assert memory_kib(reducer, "VmRSS") < 200_000
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_reducer_without_descriptors_left_serves_when_unauthenticated_connections_go() -> None:
    few = ReducerProcess(under=("prlimit", "--nofile=40:40"))
    host, _, port = few.address.rpartition(":")
    with ExitStack() as handshakes:
        for _ in range(60):
            handshakes.enter_context(socket.create_connection((host, int(port))))
    assert serves(few, "few")
    few.close()


def _mutated(said: bytes, at: int, value: int) -> bytes:
    changed = bytearray(said)
    changed[at % len(changed)] ^= value
    return bytes(changed)


hello_bytes = hello_frame(HELLO, TOKEN, Challenge("ab" * 32, 2), "cd" * 32)
noise = (
    st.binary(max_size=300)
    | st.binary(max_size=HEADER_BYTES + 20).map(lambda rest: b"FPR1\x02\0\0\0" + rest)
    | st.builds(
        _mutated, st.just(hello_bytes), st.integers(0, len(hello_bytes)), st.integers(1, 255)
    )
)


@given(said=noise)
@settings(
    max_examples=scaled(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_a_worker_says_its_group_alone_hears_that_it_was_it(
    reducer: ReducerProcess, said: bytes
) -> None:
    group = f"noise-{next(_numbers)}"  # a group's name is taken until its end is noticed
    members = [Raw.to(reducer.address) for _ in range(2)]
    for rank, member in enumerate(members):
        member.hello(HELLO._replace(group=group, rank=rank))
    assert all(member.welcomed() for member in members)
    members[1].connection.sendall(said)
    members[1].close()
    rank, sentence = members[0].expect_error()
    assert (rank, "worker 1" in sentence) == (1, True)
    members[0].close()


@given(noise)
@settings(
    max_examples=scaled(200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_a_unauthenticated_connection_says_it_is_shown_out(
    reducer: ReducerProcess, said: bytes
) -> None:
    handshake = Raw.to(reducer.address)
    handshake.challenge()
    try:
        handshake.connection.sendall(said)
        handshake.connection.shutdown(socket.SHUT_WR)
        while handshake.connection.recv(4096):
            pass
    except OSError:
        pass
    handshake.close()
    assert reducer.process.poll() is None
