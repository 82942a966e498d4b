"""The relay, with a client that answers when the test wants it to. Without PyTorch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import Queue

import pytest

from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import Op, WireType
from footplate_reduction.torch.transfer_thread import TransferThread, offloaded

LONG_S = 30.0


class Answer:
    """A pending collective, and whether it was waited for before its time."""

    def __init__(self, buffer: memoryview) -> None:
        self.buffer = buffer
        self.error: Exception | None = None
        self.come = threading.Event()

    def wait(self) -> None:
        assert self.come.wait(LONG_S)
        if self.error is not None:
            raise self.error


class FakeClient:
    def __init__(self) -> None:
        self.started: Queue[Answer] = Queue()
        self.ways: list[tuple[WireType, Op, WireType | None]] = []
        self.closed: list[str | None] = []

    def start(
        self, buffer: memoryview, dtype: WireType, op: Op, wire: WireType | None = None
    ) -> Answer:
        answer = Answer(buffer)
        self.ways.append((dtype, op, wire))
        self.started.put(answer)
        return answer

    def close(self, why: str | None = None) -> None:
        self.closed.append(why)


class FakeVector:
    held = WireType.FLOAT32

    def __init__(self, name: str, broken: str = "") -> None:
        self.name = name
        self.delivered = False
        self._broken = broken

    def settle(self) -> memoryview:
        if self._broken == "settle":
            raise RuntimeError("the device is gone")
        return memoryview(self.name.encode())

    def deliver(self, done: Callable[[], None]) -> None:
        if self._broken == "deliver":
            raise RuntimeError("the device is gone")
        self.delivered = True
        done()


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def relay(client: FakeClient) -> Iterator[TransferThread]:
    relay = TransferThread(client)  # type: ignore[arg-type]  # all of a client that a relay uses
    yield relay
    relay.close("the test is over")


def send(
    relay: TransferThread, vector: FakeVector, wire: WireType | None = None
) -> Queue[Exception | None]:
    """Where its end will be told."""
    ends: Queue[Exception | None] = Queue()
    relay.send(vector, Op.AVERAGE, wire, ends.put)
    return ends


def test_the_next_is_under_way_before_the_first_is_back(
    relay: TransferThread, client: FakeClient
) -> None:
    vectors = FakeVector("a"), FakeVector("b")
    before = offloaded()
    ends = [send(relay, vectors[0]), send(relay, vectors[1], WireType.BFLOAT16)]
    first, second = (client.started.get(timeout=LONG_S) for _ in range(2))
    assert [bytes(one.buffer) for one in (first, second)] == [b"a", b"b"]
    assert client.ways == [
        (WireType.FLOAT32, Op.AVERAGE, None),
        (WireType.FLOAT32, Op.AVERAGE, WireType.BFLOAT16),
    ]
    assert [vector.delivered for vector in vectors] == [False, False]
    second.come.set()
    assert ends[1].empty()  # in the order of the calls
    first.come.set()
    assert [end.get(timeout=LONG_S) for end in ends] == [None, None]
    assert [vector.delivered for vector in vectors] == [True, True]
    assert offloaded() == before + 2


def test_a_loss_is_the_end_of_what_is_under_way_and_of_what_comes(
    relay: TransferThread, client: FakeClient
) -> None:
    before = offloaded()
    ends = [send(relay, FakeVector(name)) for name in "ab"]
    answers = [client.started.get(timeout=LONG_S) for _ in range(2)]
    answers[0].error = ReductionError("worker 2 was lost", 2)
    answers[1].error = ReductionError("it has ended")
    for answer in answers:
        answer.come.set()
    errors = [end.get(timeout=LONG_S) for end in ends]
    assert errors == [answers[0].error] * 2
    assert send(relay, FakeVector("c")).get(timeout=LONG_S) is answers[0].error
    assert client.started.empty()
    assert client.closed == ["ReductionError: worker 2 was lost"]
    assert offloaded() == before


@pytest.mark.parametrize("broken", ["settle", "deliver"])
def test_what_breaks_here_is_told_to_all_others(
    relay: TransferThread, client: FakeClient, broken: str
) -> None:
    end = send(relay, FakeVector("a", broken))
    if broken == "deliver":
        client.started.get(timeout=LONG_S).come.set()
    error = end.get(timeout=LONG_S)
    assert isinstance(error, RuntimeError)
    assert client.closed == ["RuntimeError: the device is gone"]


def test_closing_waits_for_what_is_under_way(relay: TransferThread, client: FakeClient) -> None:
    end = send(relay, FakeVector("a"))
    answer = client.started.get(timeout=LONG_S)
    closing = threading.Thread(target=relay.close)
    closing.start()
    answer.come.set()
    closing.join(LONG_S)
    assert end.get(timeout=LONG_S) is None
    assert client.closed == [None]
    relay.close("again")
    assert client.closed == [None]
    after = send(relay, FakeVector("b")).get(timeout=LONG_S)
    assert isinstance(after, ReductionError)
    assert "destroyed" in str(after)
