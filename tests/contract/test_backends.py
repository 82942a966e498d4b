"""The contract of backends, over each of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from footplate.backends.local.process_watcher import PollingWatcher
from footplate.domain.names import AttemptId
from footplate.ports.backend import Presence
from tests.support.backend import LOST, FakeBackend
from tests.support.backend_contract import BackendContract
from tests.support.local_backend import LocalRig


class FakeRig:
    """Its world obeys at once: what is told to stop ends, what is lost is cleared up."""

    def __init__(self) -> None:
        self.backend = FakeBackend()
        self._held = False
        self._came_up: dict[AttemptId, set[str]] = {}

    def hold(self) -> None:
        self._held = True

    def admit(self) -> None:
        self._held = False
        self._turn()

    def settle(self, condition: Callable[[], bool]) -> None:
        self._turn()
        assert condition()

    def _turn(self) -> None:
        for observation in self.backend.list():
            stopping = self.backend.is_stopping(observation.attempt_id, observation.replica)
            if stopping or observation.reason == LOST:
                self.backend.end(observation.attempt_id, observation.replica)
            elif observation.presence is Presence.WAITING and not self._held:
                self.backend.admit(observation.attempt_id, observation.replica)
                self._came_up.setdefault(observation.attempt_id, set()).add(observation.replica)

    def finish(self, attempt_id: AttemptId, replica: str) -> None:
        self.backend.end(attempt_id, replica)

    def kill(self, attempt_id: AttemptId, replica: str) -> None:
        self.backend.lose(attempt_id, replica)

    def reopen(self) -> None:
        self.backend.crash()

    def runs(self, attempt_id: AttemptId) -> int:
        asked = [r for r in self.backend.requests if r.attempt_id == attempt_id]
        return len(asked) * len(self._came_up.get(attempt_id, ()))


class TestFakeBackend(BackendContract):
    @pytest.fixture
    def rig(self) -> FakeRig:
        return FakeRig()


class TestLocalBackend(BackendContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[LocalRig]:
        rig = LocalRig(tmp_path)
        yield rig
        rig.close()


class TestLocalBackendWithoutProcessDescriptors(BackendContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[LocalRig]:
        rig = LocalRig(tmp_path, lambda: PollingWatcher(period_s=0.02))
        yield rig
        rig.close()


class TestLocalBackendWithANursery(BackendContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[LocalRig]:
        rig = LocalRig(tmp_path, fork_server=True)
        yield rig
        rig.close()
