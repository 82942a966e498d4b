"""What /metrics shows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector

from footplate.domain.states import State

if TYPE_CHECKING:
    from footplate.control.status import Status


def make_registry(status: Status) -> CollectorRegistry:
    """This process, and the active jobs by state, counted when asked."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    jobs = Gauge("footplate_jobs", "Active jobs by state", ["state"], registry=registry)
    for state in State:
        if not state.terminal:
            jobs.labels(state.value).set_function(partial(_count, status, state))
    return registry


def _count(status: Status, state: State) -> float:
    return status.active().get(state, 0)
