"""Creates all routes of the server, with the services behind them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route

from footplate.api.cloud_projects import cloud_project_routes
from footplate.api.discovery_v1 import Described, discovery_routes
from footplate.api.footplate_v1 import About, footplate_routes
from footplate.api.footplate_v1.audit import audit_routes
from footplate.api.footplate_v1.catalogue import catalogue_routes
from footplate.api.footplate_v1.jobs import jobs_routes
from footplate.api.footplate_v1.machine import machine_routes
from footplate.api.footplate_v1.metrics import metrics_routes
from footplate.api.footplate_v1.package_checks import package_check_routes
from footplate.api.footplate_v1.places import place_routes
from footplate.api.footplate_v1.quotas import quota_routes
from footplate.api.footplate_v1.regions import region_routes
from footplate.api.footplate_v1.stacks import stacks_routes
from footplate.api.footplate_v1.tls_ports import TlsPorts, tls_health, tls_routes
from footplate.api.footplate_v1.trials import trials_routes
from footplate.api.footplate_v1.usage import usage_routes
from footplate.api.footplate_v1.validation import validation_routes
from footplate.api.health import health_routes
from footplate.api.launcher_v1 import launcher_routes
from footplate.api.locations import location_routes
from footplate.api.logging_v2 import EntryWriting, Followers, JobFinder, logging_routes
from footplate.api.metadata_v1 import metadata_routes
from footplate.api.operations import operation_routes
from footplate.api.refused_products import refused_product_routes
from footplate.api.replica_v1 import replica_routes
from footplate.api.shell_v1 import shell_routes
from footplate.api.storage_v1 import program_routes, storage_routes
from footplate.api.storage_v1.body import Receiver
from footplate.api.training_v1 import study_routes, training_routes
from footplate.api.vertex_v1 import (
    dataset_routes,
    model_routes,
    persistent_resource_routes,
    tracking_routes,
    vertex_routes,
    vizier_routes,
)
from footplate.console import ConsoleParts, console_routes
from footplate.control.costs import Costs
from footplate.control.datasets import Datasets
from footplate.control.job_buckets import BucketScope, JobBuckets
from footplate.control.job_lists import JobLists
from footplate.control.job_metrics import JobMetrics
from footplate.control.models import ModelRegistry
from footplate.control.program_storage import PATH as PROGRAMS
from footplate.control.written_entries import WrittenEntries
from footplate.domain.errors import Unavailable
from footplate.domain.machine_hours import NO_PRICES
from footplate.grpc_api.published import read_published
from footplate.ports.launchers import Launchers
from footplate.server.event_files import LocalEventFiles
from footplate.server.job_services import JobServices
from footplate.server.machine import RandomIds
from footplate.server.machine_report import MachineReport
from footplate.server.replica_services import ReplicaServices
from footplate.server.tuning_services import TuningServices
from footplate.wire.footplate_v1.status import Server
from footplate.wire.json_text import JsonObject

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from footplate.server.context import ServiceContext


# Asks for health checks whether the database answers.

PROBE_INTERVAL_S = 1.0
"""Between two questions: anybody may ask for the health, as often as he likes."""
PROBE_SLOW_S = 2.0
"""A database that takes longer than this is away: a host may have vanished from the network."""


class DatabaseProbe:
    """Checks the database in one thread at a time; other threads get the last result meanwhile."""

    def __init__(
        self, ask: Callable[[], object], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Creates the probe. ``ask`` raises Unavailable if the database doesn't answer."""
        self._ask = ask
        self._monotonic = monotonic
        self._asking = Lock()
        self._begun: float | None = None
        """When the question that waits for its answer was asked."""
        self._ended = float("-inf")
        self._failure = ""

    def check(self) -> None:
        """Raises Unavailable if the database doesn't answer."""
        if self._asking.acquire(blocking=False):
            try:
                if self._monotonic() - self._ended >= PROBE_INTERVAL_S:
                    self._failure = self._find_failure()
            finally:
                self._asking.release()
        begun = self._begun
        if begun is not None and self._monotonic() - begun > PROBE_SLOW_S:
            raise Unavailable(
                "the database doesn't answer; check that it runs, and that "
                "this machine can reach it"
            )
        if self._failure:
            raise Unavailable(self._failure)

    def _find_failure(self) -> str:
        self._begun = self._monotonic()
        try:
            self._ask()
        except Unavailable as error:
            return error.message
        else:
            return ""
        finally:
            self._begun, self._ended = None, self._monotonic()


def make_routes(
    about: About,
    context: ServiceContext,
    parts: JobServices,
    replicas: ReplicaServices,
    launchers: Launchers,
    tuning: TuningServices,
    registry: ModelRegistry,
    datasets: Datasets,
    followers: Followers,
    end: Callable[[], None],
    servers: Callable[[], Sequence[Server]],
    tls: TlsPorts,
    metrics: CollectorRegistry,
    console: ConsoleParts,
) -> list[BaseRoute]:
    """Returns all routes. They are tried one by one, so those that each job needs come first.

    ``end`` is called when the jobs and then the server shall end.
    """
    catalogue, clock, disk = context.catalogue, context.clock, context.disk
    jobs, trials, paths = parts.jobs, tuning.trials, replicas.shells.paths
    receiver = Receiver()
    vizier = tuning.make_vizier(context.database.studies)
    database = DatabaseProbe(context.database.ping)
    finder = JobFinder(jobs.get, tuple(catalogue.regions))
    written = WrittenEntries(context.store, context.logs, replicas.programs.bearer)
    writing = EntryWriting(written, finder, jobs.get, clock.now).routes()

    def probe() -> JsonObject:
        database.check()
        return {**disk.probe(), **tls_health(tls)}

    training = training_routes(jobs, catalogue, trials, paths)
    storage = storage_routes(context.buckets, receiver)
    logging = [*_reading_of_logs(context, parts, finder, followers), *writing]
    locations = location_routes(catalogue)
    studies = study_routes(vizier, clock, catalogue)
    vertex = [
        *operation_routes(jobs, registry.exists),
        *vizier_routes(vizier, clock, catalogue),
        *vertex_routes(jobs, clock, catalogue, trials, paths),
        *model_routes(registry, clock, catalogue),
        *persistent_resource_routes(parts.resources, clock, RandomIds(), catalogue),
        *dataset_routes(context.database.tracking, datasets, clock, RandomIds(), catalogue),
        *tracking_routes(context.database.tracking, clock, RandomIds(), catalogue, context.buckets),
    ]
    described = Described(
        training=[*training, *studies, *locations],
        vertex=[*vertex, *locations],
        storage=storage,
        logging=logging,
        read_published=read_published,
    )
    return [
        *replica_routes(
            replicas.tasks,
            replicas.reports,
            replicas.tokens,
            replicas.control_requests,
            replicas.images,
            replicas.copies,
            replicas.programs.path,
            replicas.gangs.add,
        ),
        *launcher_routes(launchers),
        *training,
        *storage,
        *health_routes(
            about.version,
            metrics,
            probe,
        ),
        *shell_routes(replicas.shells, replicas.tokens, context.notifications.watchers.add),
        *_own_routes(about, context, parts, replicas, end, servers, tls),
        *logging,
        *_routes_of_programs(context, replicas, receiver, writing),
        *studies,
        *vertex,
        *trials_routes(trials, jobs.get, jobs.explain),
        *metrics_routes(
            JobMetrics(
                LocalEventFiles(context.settings.job_dir_roots), context.buckets, trials.reports
            ).read,
            jobs.get,
        ),
        *locations,
        *discovery_routes(described),
        *cloud_project_routes(),
        *console_routes(console),
    ]


def _reading_of_logs(
    context: ServiceContext, parts: JobServices, finder: JobFinder, followers: Followers
) -> list[Route]:
    lists = JobLists(context.store)
    return logging_routes(
        context.logs,
        parts.jobs.get,
        finder,
        followers,
        lambda project, times, limit: lists.between(project, times.first, times.last, limit),
        context.service_log.copy,
    )


def _routes_of_programs(
    context: ServiceContext,
    replicas: ReplicaServices,
    receiver: Receiver,
    writing: Sequence[Route],
) -> list[BaseRoute]:
    """Returns the routes below addresses that contain a program's key.

    The metadata server comes first, since buckets take all other paths there.
    """
    shared = context.settings.shared_buckets
    return [
        *metadata_routes(PROGRAMS, replicas.metadata),
        *refused_product_routes(PROGRAMS),
        program_routes(
            PROGRAMS,
            lambda key: BucketScope.of(replicas.programs.check(key)),
            lambda scope: [
                *storage_routes(JobBuckets(context.buckets, scope, shared), receiver),
                *writing,
            ],
        ),
    ]


def _own_routes(
    about: About,
    context: ServiceContext,
    parts: JobServices,
    replicas: ReplicaServices,
    end: Callable[[], None],
    servers: Callable[[], Sequence[Server]],
    tls: TlsPorts,
) -> list[BaseRoute]:
    """Returns the routes that aren't in Google's APIs: ``/footplate/v1``."""
    catalogue, get_job = context.catalogue, parts.jobs.get
    return [
        *footplate_routes(
            parts.status,
            context.store,
            about,
            end,
            servers,
            context.disk.trouble,
            parts.region_reports.engines,
        ),
        *region_routes(parts.region_reports),
        *audit_routes(context.audit),
        *place_routes(context.database.tracking.collections, context.database.models.collections),
        *machine_routes(MachineReport(context.settings)),
        *tls_routes(tls),
        *jobs_routes(
            JobLists(context.store),
            parts.jobs,
            Costs(context.store, catalogue, context.settings.prices or NO_PRICES, context.clock),
            lambda: context.notifications.watchers.changes,
            catalogue.regions,
        ),
        *usage_routes(context.usage, get_job),
        *catalogue_routes(catalogue),
        *quota_routes(parts.quotas),
        *stacks_routes(replicas.stacks, get_job),
        *validation_routes(parts.validation, catalogue),
        *package_check_routes(parts.package_checks, catalogue),
    ]
