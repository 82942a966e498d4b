"""Creates all routes of the server, with the services and metrics behind them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from footplate.api.cloud_projects import cloud_project_routes
from footplate.api.footplate_v1 import footplate_routes
from footplate.api.footplate_v1.catalogue import catalogue_routes
from footplate.api.footplate_v1.package_checks import package_check_routes
from footplate.api.footplate_v1.quotas import quota_routes
from footplate.api.footplate_v1.stacks import stacks_routes
from footplate.api.footplate_v1.tls_ports import tls_health, tls_routes
from footplate.api.footplate_v1.trials import trials_routes
from footplate.api.footplate_v1.usage import usage_routes
from footplate.api.footplate_v1.validation import validation_routes
from footplate.api.health import health_routes
from footplate.api.locations import location_routes
from footplate.api.logging_v2 import logging_routes
from footplate.api.operations import operation_routes
from footplate.api.replica_v1 import replica_routes
from footplate.api.shell_v1 import shell_routes
from footplate.api.storage_v1 import program_routes, storage_routes
from footplate.api.storage_v1.body import Receiver
from footplate.api.training_v1 import training_routes
from footplate.api.vertex_v1 import (
    model_routes,
    tracking_routes,
    vertex_routes,
    vizier_routes,
)
from footplate.control.job_buckets import BucketScope, JobBuckets
from footplate.control.program_storage import PATH as PROGRAMS
from footplate.control.vizier import EarlyStop, Studies, StudyTrials, Suggesting, Vizier
from footplate.domain.job_states import State
from footplate.server.machine import RandomIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from prometheus_client import Metric
    from starlette.routing import BaseRoute

    from footplate.api.footplate_v1 import About, ServerView
    from footplate.api.footplate_v1.tls_ports import TlsPorts
    from footplate.api.logging_v2 import Followers
    from footplate.control.models import ModelRegistry
    from footplate.control.reduction_stats import ReductionTotals
    from footplate.control.status import Status
    from footplate.domain.names import StudyUid
    from footplate.ports.clock import Clock
    from footplate.ports.studies import StudyStore
    from footplate.server.context import ServiceContext
    from footplate.server.job_services import JobServices
    from footplate.server.replica_services import ReplicaServices
    from footplate.server.tuning_services import TuningServices


def make_registry(status: Status, reduced: ReductionTotals) -> CollectorRegistry:
    """This process, the active jobs and trials by state, and what reduction servers did."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Reduction(reduced))
    jobs = Gauge("footplate_jobs", "Active jobs by state", ["state"], registry=registry)
    trials = Gauge(
        "footplate_trials", "Active trials of tuning jobs by state", ["state"], registry=registry
    )
    for state in State:
        if not state.terminal:
            jobs.labels(state.value).set_function(partial(_count, status.active, state))
            trials.labels(state.value).set_function(partial(_count, status.trials, state))
    return registry


def _count(counts: Callable[[], Mapping[State, int]], state: State) -> float:
    return counts().get(state, 0)


class _Reduction(Collector):
    """Asked for at each scrape."""

    def __init__(self, reduced: ReductionTotals) -> None:
        self._reduced = reduced

    def collect(self) -> Iterator[Metric]:
        total = self._reduced.total
        yield CounterMetricFamily(
            "footplate_reduction_received_bytes",
            "Bytes that workers have sent to reduction servers since this server began",
            value=total.received_bytes,
        )
        yield CounterMetricFamily(
            "footplate_reduction_awaiting_seconds",
            "Time that reduction servers had parts of some workers and waited for others",
            value=total.awaited_s,
        )


def make_vizier(studies: StudyStore, tuning: TuningServices, clock: Clock) -> Vizier:
    """It suggests and stops with the very parts that tuning jobs use."""

    def forget(uid: StudyUid) -> None:
        tuning.models.forget(uid)
        tuning.reported.forget(uid)

    return Vizier(
        Studies(studies, clock, RandomIds(), forget),
        StudyTrials(studies, clock, tuning.models.prepare),
        Suggesting(studies, tuning.suggester, clock),
        EarlyStop(studies, tuning.reported, tuning.stopping.reason, clock),
    )


def make_routes(
    about: About,
    context: ServiceContext,
    parts: JobServices,
    replicas: ReplicaServices,
    tuning: TuningServices,
    registry: ModelRegistry,
    followers: Followers,
    end: Callable[[], None],
    servers: Callable[[], Sequence[ServerView]],
    tls: TlsPorts | None,
) -> list[BaseRoute]:
    """They are tried one by one: what each job needs, and who waits for one asks, comes first.

    ``end`` is called when jobs are to end and then the server.
    """
    catalogue, clock, disk = context.catalogue, context.clock, context.disk
    jobs, status, trials, paths = parts.jobs, parts.status, tuning.trials, replicas.shells.paths
    shared, receiver = context.settings.shared_buckets, Receiver()
    vizier = make_vizier(context.database.studies, tuning, clock)
    return [
        *replica_routes(
            replicas.tasks,
            replicas.reports,
            replicas.tokens,
            replicas.control_requests,
            replicas.images,
        ),
        *training_routes(jobs, catalogue, paths, trials),
        *storage_routes(context.buckets, receiver),
        *health_routes(
            about.version,
            make_registry(status, replicas.reduced),
            lambda: {**disk.probe(), **tls_health(tls)},
        ),
        *shell_routes(replicas.shells, replicas.tokens, context.notifications.watchers.add),
        *footplate_routes(status, context.store, about, end, servers, disk.trouble),
        *tls_routes(tls),
        *usage_routes(context.usage, jobs.get),
        *catalogue_routes(catalogue),
        *quota_routes(parts.quotas),
        *stacks_routes(replicas.stacks, jobs.get),
        *validation_routes(parts.validation, catalogue),
        *package_check_routes(parts.package_checks, catalogue),
        *logging_routes(
            context.logs, jobs.get, tuple(catalogue.regions), followers, context.service_log.copy
        ),
        program_routes(
            PROGRAMS,
            lambda key: BucketScope.of(replicas.programs.check(key)),
            lambda scope: storage_routes(JobBuckets(context.buckets, scope, shared), receiver),
        ),
        *operation_routes(jobs, registry.exists),
        *vizier_routes(vizier, clock, catalogue),
        *vertex_routes(jobs, clock, catalogue, paths, trials),
        *model_routes(registry, clock, catalogue),
        *tracking_routes(context.database.tracking, clock, RandomIds(), catalogue),
        *trials_routes(trials, jobs.get, jobs.explain),
        *location_routes(catalogue),
        *cloud_project_routes(),
    ]
