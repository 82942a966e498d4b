"""Creates the services that talk to supervisors."""

from __future__ import annotations

import secrets
import time
from functools import partial
from typing import TYPE_CHECKING

from footplate.control.control_requests import ControlRequests
from footplate.control.images import Images
from footplate.control.program_storage import ProgramStorage
from footplate.control.reduction_setup import ReductionKit
from footplate.control.reduction_stats import ReductionTotals
from footplate.control.replica_reports import Reports
from footplate.control.replica_tasks import Limits, Tasks
from footplate.control.shells import Shells
from footplate.control.stacks import Stacks
from footplate.control.tokens import ShellTokens, Tokens
from footplate.server.machine import free_port, most_connections
from footplate.server.reduction import find_wheel
from footplate.server.wheels import algorithms_wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.control.tokens import Bearer
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.sites import Site
    from footplate.ports.container_engine import ContainerEngine
    from footplate.server.leadership import LeadershipServices
    from footplate.server.persistence import Persistence
    from footplate.server.tuning_services import TuningServices
    from footplate.settings import Settings
    from footplate.wire.replica_v1 import Record


class ReplicaServices:
    """The services that supervisors call, and those that reach running replicas."""

    def __init__(
        self,
        kept: Persistence,
        tuning: TuningServices,
        leadership_services: LeadershipServices,
        catalogue: Catalogue,
        site: Callable[[str], Site],
        settings: Settings,
        secret: bytes,
        url: str,
        engine: ContainerEngine,
    ) -> None:
        """``secret`` is the key to all tokens; ``url`` is where this server answers."""
        store, clock = kept.store, kept.clock
        self._leadership_services = leadership_services
        self.tokens = Tokens(secret)
        self.reduction = ReductionKit(secret, find_wheel())
        self.programs = ProgramStorage(store, secret, url)
        self.images = Images(store)
        self.tasks = Tasks(
            store,
            kept.buckets,
            catalogue,
            site,
            clock,
            _limits(settings),
            free_port,
            self.reduction,
            algorithms_wheel(),
            self.images,
            engine,
            self.programs.variables,
            settings.image_pull,
        )
        self.reduced = ReductionTotals(time.monotonic)
        self.reports = Reports(
            store,
            kept.logs,
            kept.usage,
            clock,
            leadership_services.wake,
            self._receive,
            tuning.measuring.keep,
            kept.reserve.retrying,
        )
        self.control_requests = ControlRequests(
            partial(secrets.token_hex, 16), most_connections() // 2
        )
        self.stacks = Stacks(self.control_requests)
        self.shells = Shells(store, self.control_requests, ShellTokens(secret), clock)

    def _receive(self, bearer: Bearer, records: Sequence[Record]) -> None:
        self._leadership_services.receive(bearer, records)
        self.reduced.receive(bearer, records)


def _limits(settings: Settings) -> Limits:
    return Limits(
        settings.stop_grace_s,
        settings.heartbeat_s,
        settings.gathering_s,
        settings.usage_s,
        settings.hang_s,
        machines=settings.limits == "on",
    )
