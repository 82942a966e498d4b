"""Creates the services that talk to supervisors."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from footplate.control.bucket_copies import CopySteps
from footplate.control.control_requests import ControlRequests
from footplate.control.images import Images
from footplate.control.program_api import ProgramApi
from footplate.control.program_keys import ProgramKeys
from footplate.control.program_metadata import ProgramMetadata
from footplate.control.program_storage import ProgramStorage
from footplate.control.reduction_setup import ReductionKit
from footplate.control.reduction_stats import ReductionTotals
from footplate.control.replica_reports import Reports
from footplate.control.replica_tasks import Limits, Tasks
from footplate.control.shells import Shells
from footplate.control.stacks import Stacks
from footplate.control.tokens import Bearer, ShellTokens, Tokens
from footplate.domain.replica_records import Record
from footplate.logs.watchers import Watchers
from footplate.server.machine import free_port, most_connections
from footplate.server.socket_owner import is_available
from footplate.server.tuning_services import TuningServices
from footplate.server.wheels import algorithms_wheel, reduction_wheel

if TYPE_CHECKING:
    from footplate.server.context import ServiceContext
    from footplate.server.tls_listeners import TlsListeners
    from footplate.settings import Settings


class ReplicaServices:
    """The services that supervisors call, and those that reach running replicas."""

    def __init__(self, context: ServiceContext, tuning: TuningServices, tls: TlsListeners) -> None:
        store, clock, secret = context.store, context.clock, context.data_dir.secret()
        self._leader = context.leader
        self.tokens = Tokens(secret)
        self.reduction = ReductionKit(secret, reduction_wheel())
        self.programs = ProgramStorage(store, secret, context.url, tls.proxy_port)
        self.program_keys = ProgramKeys(store, secret)
        regions = context.catalogue.regions
        self.metadata = ProgramMetadata(self.programs.find, regions, secret, clock)
        self.images = Images(store)
        self.tasks = Tasks(
            store,
            context.buckets,
            context.catalogue,
            context.regions.site,
            clock,
            _limits(context.settings),
            free_port,
            self.reduction,
            algorithms_wheel(),
            self.images,
            context.engine,
            self.programs.variables,
            context.settings.image_pull,
            context.settings.shared_buckets,
            authority=lambda: "" if tls.proxy_port is None else tls.certificate,
            api=_make_api(context, tls, self.program_keys.issue),
            resource=context.find_resource,
            copies=context.copies,
        )
        shared = context.settings.shared_buckets
        self.copies = CopySteps(store, context.buckets, context.copies, shared)
        self.copies.remove_old()
        self.reduced = ReductionTotals(time.monotonic)
        self.gangs = Watchers()
        """The replicas that wait for all of their job to be ready."""
        self.reports = Reports(
            store,
            context.logs,
            context.usage,
            clock,
            context.leader.wake,
            self._receive,
            self.gangs.wake,
            tuning.measuring.keep,
            context.reserve.retrying,
        )
        self.control_requests = ControlRequests(
            partial(secrets.token_hex, 16), most_connections() // 2
        )
        self.stacks = Stacks(self.control_requests)
        self.shells = Shells(store, self.control_requests, ShellTokens(secret), clock)

    def _receive(self, bearer: Bearer, records: Sequence[Record]) -> None:
        self._leader.receive(bearer, records)
        self.reduced.receive(bearer, records)


def _make_api(
    context: ServiceContext, tls: TlsListeners, make_key: Callable[[Bearer], str]
) -> ProgramApi:
    """Returns the API that programs may call; none if calls require the token."""
    settings = context.settings
    projects = () if settings.token else settings.api_access
    return ProgramApi(
        projects,
        context.url,
        tls.proxy_port,
        make_key,
        tls.accounts.make,
        tells_callers=is_available(),
    )


def _limits(settings: Settings) -> Limits:
    return Limits(
        settings.stop_grace_s,
        settings.heartbeat_s,
        settings.gathering_s,
        settings.usage_s,
        settings.hang_s,
        machines=settings.limits == "on",
    )
