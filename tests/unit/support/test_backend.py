import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.names import AttemptId
from footplate.ports.backend import Presence
from tests.support.backend import LOST, FakeBackend
from tests.support.backend_rig import WORKERS, make_request

ATTEMPT = AttemptId("u-1")


@pytest.fixture
def backend() -> FakeBackend:
    backend = FakeBackend()
    backend.start(make_request(ATTEMPT, WORKERS[:2]))
    return backend


def seen(backend: FakeBackend) -> list[tuple[Presence, str]]:
    return [(s.presence, s.reason) for s in backend.list()]


def test_nothing_happens_by_itself(backend: FakeBackend) -> None:
    assert seen(backend) == [(Presence.WAITING, "it was asked for")] * 2


def test_each_replica_is_turned_by_itself(backend: FakeBackend) -> None:
    backend.delay(ATTEMPT, "all GPUs are held")
    backend.admit(ATTEMPT, WORKERS[0])
    assert seen(backend) == [(Presence.LIVE, ""), (Presence.WAITING, "all GPUs are held")]
    backend.lose(ATTEMPT)
    assert seen(backend) == [(Presence.LOST, LOST), (Presence.WAITING, "all GPUs are held")]
    backend.end(ATTEMPT, reason="the machine went away")
    assert seen(backend) == [(Presence.GONE, "the machine went away")] * 2
    backend.admit(ATTEMPT)
    assert seen(backend) == [(Presence.GONE, "the machine went away")] * 2


def test_the_living_live_on_when_they_are_told_to_stop(backend: FakeBackend) -> None:
    backend.admit(ATTEMPT, WORKERS[0])
    backend.stop(ATTEMPT)
    assert seen(backend) == [
        (Presence.LIVE, ""),
        (Presence.GONE, ("the replica was stopped before it started")),
    ]
    assert list(backend.stopping) == [ATTEMPT]
    backend.end(ATTEMPT)
    backend.forget(ATTEMPT)
    assert list(backend.stopping) == []


def test_a_refusal_starts_nothing(backend: FakeBackend) -> None:
    backend.refusal = Unavailable("busy")
    with pytest.raises(Unavailable):
        backend.start(make_request("v-1"))
    backend.start(make_request(ATTEMPT))
    assert [request.attempt_id for request in backend.requests] == [ATTEMPT]


def test_a_change_is_told_at_once_and_only_if_it_is_one(backend: FakeBackend) -> None:
    heard: list[AttemptId] = []
    backend.watch(heard.append)
    backend.admit(ATTEMPT)
    backend.admit(ATTEMPT)
    assert heard == [ATTEMPT]
    backend.crash()
    backend.end(ATTEMPT)
    assert heard == [ATTEMPT]
