"""The backend of a standby server."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping

from footplate.domain.errors import NotLeading
from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, ReplicaObservation


class StandbyBackend:
    """A backend for servers that don't lead: it starts and stops nothing, and knows of nothing."""

    def start(self, request: AttemptStart) -> None:
        raise NotLeading(f"another server leads the service, and starts {request.attempt_id}")

    def stop(
        self,
        attempt_id: AttemptId,
        replicas: Mapping[str, int] | None = None,  # noqa: ARG002 - the port
    ) -> None:
        raise NotLeading(f"another server leads the service, and stops {attempt_id}")

    def list(self) -> builtins.tuple[ReplicaObservation, ...]:
        return ()

    def inspect(self, attempt_id: AttemptId) -> builtins.tuple[ReplicaObservation, ...]:  # noqa: ARG002 - the port
        return ()

    def forget(self, attempt_id: AttemptId) -> None: ...

    def watch(self, changed: Callable[[AttemptId], None]) -> None: ...

    def close(self) -> None: ...
