"""The metrics at /metrics."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from footplate.domain.job_states import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prometheus_client import Metric

    from footplate.api.request_counts import RequestCounts
    from footplate.control.reduction_stats import ReductionTotals
    from footplate.control.status import Status


def make_registry(
    status: Status, reduced: ReductionTotals, requests: RequestCounts
) -> CollectorRegistry:
    """This process, active jobs and trials by state, requests, and what reduction servers did."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Reduction(reduced))
    registry.register(_Requests(requests))
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
    """Asked for at each scrape."""

    def __init__(self, counts: RequestCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        counts = CounterMetricFamily(
            "footplate_requests",
            "Requests since this server began",
            labels=["verb", "route", "client", "version", "transport", "status"],
        )
        for request, count in self._counts.read().items():
            client = request.client
            transport = "gRPC" if client.grpc else "REST"
            labels = request.verb, request.route, client.name, client.version, transport
            counts.add_metric([*labels, str(request.status)], count)
        yield counts


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
