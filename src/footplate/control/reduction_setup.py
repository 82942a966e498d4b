"""Wheel and variables for the replicas of a job with reduction servers."""

from __future__ import annotations

import hashlib
import hmac

from footplate.control.wheels import Wheel
from footplate.domain.jobs import JobSpec, WorkerPool
from footplate.domain.names import AttemptId
from footplate.domain.reduction import has_reducers, is_too_old, takes_part
from footplate.domain.runtimes import Runtimes


class ReductionKit:
    """The wheel and the secrets of jobs with reduction servers.

    ``key`` is the service's secret; ``wheel`` is footplate-reduction, None if it is not installed.
    """

    def __init__(self, key: bytes, wheel: Wheel | None) -> None:
        self._key = hmac.new(key, b"reduction", hashlib.sha256).digest()
        self._wheel = wheel

    @property
    def complete(self) -> bool:
        return self._wheel is not None

    def wheel_for(self, spec: JobSpec, pool: WorkerPool, runtimes: Runtimes) -> Wheel | None:
        """Returns the wheel that is installed beside the pool's packages; None: none."""
        wanted = has_reducers(spec) and takes_part(pool) and not is_too_old(pool, runtimes)
        return self._wheel if wanted else None

    def token(self, attempt_id: AttemptId) -> str:
        """Returns the token that workers and reducers of an attempt use to recognise each other."""
        return hmac.new(self._key, attempt_id.encode(), hashlib.sha256).hexdigest()
