"""The parts that talk with the supervisors of replicas, made and joined."""

from __future__ import annotations

import secrets
import time
from functools import partial
from typing import TYPE_CHECKING

from footplate.control.images import Images
from footplate.control.program_storage import ProgramStorage
from footplate.control.reduced import ReducedTotals
from footplate.control.reduction import ReductionKit
from footplate.control.reports import Reports
from footplate.control.shells import Shells
from footplate.control.stacks import Stacks
from footplate.control.tasks import Limits, Tasks
from footplate.control.tokens import ShellTokens, Tokens
from footplate.control.wishes import Wishes
from footplate.server.machine import free_port, most_connections
from footplate.server.reduction import find_wheel
from footplate.server.wheels import algorithms_wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.control.tokens import Bearer
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.sites import Site
    from footplate.ports.container_engine import ContainerEngine
    from footplate.server.kept import Kept
    from footplate.server.terms import Terms
    from footplate.server.tuning import TuningParts
    from footplate.settings import Settings
    from footplate.wire.replica_v1 import Record


class ReplicaParts:
    """What supervisors get of this server, what they tell it, and what users want of them."""

    def __init__(
        self,
        kept: Kept,
        tuning: TuningParts,
        terms: Terms,
        catalogue: Catalogue,
        site: Callable[[str], Site],
        settings: Settings,
        secret: bytes,
        url: str,
        engine: ContainerEngine,
    ) -> None:
        """``secret`` is the key to all tokens; ``url`` is where this server answers."""
        store, clock = kept.store, kept.clock
        self._terms = terms
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
        self.reduced = ReducedTotals(time.monotonic)
        self.reports = Reports(
            store,
            kept.logs,
            kept.usage,
            clock,
            terms.wake,
            self._hear,
            tuning.measuring.keep,
            kept.reserve.retrying,
        )
        self.wishes = Wishes(partial(secrets.token_hex, 16), most_connections() // 2)
        self.stacks = Stacks(self.wishes)
        self.shells = Shells(store, self.wishes, ShellTokens(secret), clock)

    def _hear(self, bearer: Bearer, records: Sequence[Record]) -> None:
        self._terms.hear(bearer, records)
        self.reduced.hear(bearer, records)


def _limits(settings: Settings) -> Limits:
    return Limits(
        settings.stop_grace_s,
        settings.heartbeat_s,
        settings.gathering_s,
        settings.usage_s,
        settings.hang_s,
    )
