"""Log lines that the service writes about a job."""

from __future__ import annotations

from footplate.domain.jobs import JobEvent
from footplate.domain.log_lines import Line

SERVICE = "service"
"""Stands where other entries have the name of a replica, as in AI Platform's own logs."""

_SEVERITIES = {
    "CANCELLED": "NOTICE",
    "DISK_FULL": "WARNING",
    "EMULATED": "WARNING",
    "FAILED": "ERROR",
    "HANG": "WARNING",
    "HINT": "NOTICE",
    "LEFTOVERS": "WARNING",
    "LOST_FILES": "WARNING",
    "REPLICA_FAILED": "ERROR",
    "REPLICA_LEFT_OUT": "WARNING",
    "RESTART": "WARNING",
    "RETRY": "WARNING",
    "SILENT": "WARNING",
    "START_DELAYED": "WARNING",
    "STOPPED_BY_SIGNAL": "WARNING",
    "TRIAL_FAILED": "ERROR",
    "WARNING": "WARNING",
}
_OMITTED = frozenset({"ISOLATION", "LIMITS", "METRICS", "SHELL_CLOSED", "SHELL_OPENED", "TRIAL"})
"""Kinds of events that describe how a job runs, and give no reason for anything."""


def service_line(number: int, event: JobEvent) -> Line | None:
    """Returns the log line for event ``number`` of a job; None: the log omits the event."""
    if not event.message or event.kind in _OMITTED:
        return None
    message = f"{event.replica}: {event.message}" if event.replica else event.message
    return Line(number, event.time, _SEVERITIES.get(event.kind, "INFO"), message)
