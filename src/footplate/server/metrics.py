"""The metrics at /metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from footplate.api.request_counts import RequestCounts
from footplate.control.job_statistics import BOUNDS_S, JobStatistics, Times
from footplate.control.reduction_stats import ReductionTotals
from footplate.control.status import Status
from footplate.domain.job_states import State
from footplate.domain.sites import Site

if TYPE_CHECKING:
    from prometheus_client import Metric


def make_registry(
    status: Status,
    reduced: ReductionTotals,
    requests: RequestCounts,
    statistics: JobStatistics,
    sites: Sequence[Site],
    held_gpus: Callable[[], Mapping[str, frozenset[str]]],
) -> CollectorRegistry:
    """Returns the registry of metrics.

    They cover this process, active jobs and trials by state, ended jobs, GPUs, requests, and the
    work of reduction servers.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Reduction(reduced))
    registry.register(_Requests(requests))
    registry.register(_Jobs(statistics))
    registry.register(_Gpus(sites, held_gpus))
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


class _Requests(Collector):
    """Collects requests at each scrape."""

    def __init__(self, counts: RequestCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        counts = CounterMetricFamily(
            "footplate_requests",
            "Requests since this server started",
            labels=["verb", "route", "client", "version", "transport", "status"],
        )
        for request, count in self._counts.read().items():
            client = request.client
            transport = "gRPC" if client.grpc else "REST"
            labels = request.verb, request.route, client.name, client.version, transport
            counts.add_metric([*labels, str(request.status)], count)
        yield counts


class _Jobs(Collector):
    """Collects jobs at each scrape."""

    def __init__(self, statistics: JobStatistics) -> None:
        self._statistics = statistics

    def collect(self) -> Iterator[Metric]:
        totals = self._statistics.read()
        ended = CounterMetricFamily(
            "footplate_jobs_ended",
            "Jobs that have ended since this server started",
            labels=["project", "region", "kind", "result"],
        )
        for labels, count in totals.ended.items():
            ended.add_metric([*labels], count)
        yield ended
        yield _histogram(
            "footplate_job_waiting_seconds",
            "Time from the submission of a job to the start of its preparation",
            totals.waited,
        )
        yield _histogram(
            "footplate_job_preparation_seconds",
            "Time from the start of a job's preparation to the start of its program",
            totals.prepared,
        )


def _histogram(name: str, text: str, found: Mapping[tuple[str, str], Times]) -> Metric:
    family = HistogramMetricFamily(name, text, labels=["project", "region"])
    for place, times in found.items():
        bounds = [*map(str, BOUNDS_S), "+Inf"]
        buckets = [*zip(bounds, map(float, accumulate(times.counts)), strict=True)]
        family.add_metric([*place], buckets, times.sum_s)
    return family


class _Gpus(Collector):
    """Collects GPUs at each scrape, without those of engines, which have metrics of their own."""

    def __init__(
        self, sites: Sequence[Site], held_gpus: Callable[[], Mapping[str, frozenset[str]]]
    ) -> None:
        self._sites = sites
        self._held_gpus = held_gpus

    def collect(self) -> Iterator[Metric]:
        gpus = GaugeMetricFamily(
            "footplate_gpus",
            "GPUs of this machine that jobs use, and those that are idle",
            labels=["site", "type", "state"],
        )
        held = self._held_gpus()
        for site in self._sites:
            count: Counter[tuple[str, str]] = Counter()
            for gpu in site.gpus:
                kind = gpu.accelerator or gpu.model
                of_kind = (kind, "held" if gpu.id in held.get(site.name, ()) else "idle")
                count.update({(kind, "held"): 0, (kind, "idle"): 0, of_kind: 1})
            for labels, number in count.items():
                gpus.add_metric([site.name, *labels], number)
        yield gpus


class _Reduction(Collector):
    """Collects reduction servers' work at each scrape."""

    def __init__(self, reduced: ReductionTotals) -> None:
        self._reduced = reduced

    def collect(self) -> Iterator[Metric]:
        total = self._reduced.total
        yield CounterMetricFamily(
            "footplate_reduction_received_bytes",
            "Bytes that workers have sent to reduction servers since this server started",
            value=total.received_bytes,
        )
        yield CounterMetricFamily(
            "footplate_reduction_awaiting_seconds",
            "Time that reduction servers, with data of some workers, waited for data of the others",
            value=total.awaited_s,
        )
