"""Formats values for pages; all are filters of templates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from shlex import quote as shell_quote
from typing import TYPE_CHECKING
from urllib.parse import quote

from footplate.domain.names import parse_job_name, trial_run_name, tuning_job_name
from footplate.domain.resources import MEMORY_MB, say_gb, say_resource

if TYPE_CHECKING:
    from pydantic import JsonValue

_TIMES = "\u00d7"
_TEN, _THOUSAND = 10, 1000
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
ICONS = {
    "QUEUED": "◷",
    "PREPARING": "◔",
    "RUNNING": "▶",
    "SUCCEEDED": "✓",
    "FAILED": "✕",
    "CANCELLING": "◫",
    "CANCELLED": "⊘",
}
_TRIAL_ICONS = {"REQUESTED": "◷", "ACTIVE": "▶", "STOPPING": "◫", "INFEASIBLE": "✕"}
"""Of the states of trials that no job has."""
KINDS = {
    "jobs": "training",
    "customJobs": "custom",
    "hyperparameterTuningJobs": "tuning",
    "trainingPipelines": "pipeline",
}
"""What people call the kinds of jobs, by the last part of their collections."""


def duration(seconds: float) -> str:
    """Formats a duration in its two largest units: ``45 s``, ``12 min 3 s``, ``2 d 4 h``."""
    whole = max(0, int(seconds))
    units = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s"))
    at = next((i for i, (size, _) in enumerate(units) if whole >= size), len(units) - 1)
    parts: list[str] = []
    for size, unit in units[at : at + 2]:
        count, whole = divmod(whole, size)
        if count or not parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts)


def parse(time: str) -> datetime:
    return datetime.fromisoformat(time.replace("Z", "+00:00"))


def age(time: str, now: datetime) -> str:
    """Formats how long ago a time was, in the largest unit."""
    seconds = (now - parse(time)).total_seconds()
    if seconds < 1:
        return "now"
    text = duration(seconds)
    return f"{text if seconds < _MINUTE else ' '.join(text.split()[:2])} ago"


def absolute(time: str) -> str:
    """Formats a time in UTC, for readers without scripts."""
    return parse(time).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def between(start: str | None, end: str | None, now: datetime) -> str:
    """Returns the time from ``start`` to ``end``, or until now; '' without a start."""
    if not start:
        return ""
    return duration(((parse(end) if end else now) - parse(start)).total_seconds())


def machine_pools(pools: Iterable[Mapping[str, JsonValue]]) -> list[tuple[str, str]]:
    """Returns pairs like ``4 x n1-standard-4``, ``(1 x NVIDIA_TESLA_A100)``; merges equal pools."""
    counts: dict[tuple[str, str], int] = {}
    for pool in pools:
        accelerators = ""
        if pool.get("acceleratorType"):
            accelerators = f"({pool['acceleratorCount']} {_TIMES} {pool['acceleratorType']})"
        key, count = (str(pool["machineType"]), accelerators), pool["count"]
        counts[key] = counts.get(key, 0) + (count if isinstance(count, int) else 0)
    return [(f"{count} {_TIMES} {machine}", more) for (machine, more), count in counts.items()]


def machines(pools: Iterable[Mapping[str, JsonValue]]) -> str:
    """Returns text such as ``4 x n1-standard-4, 2 x a2-highgpu-1g (1 x NVIDIA_TESLA_A100)``."""
    return ", ".join(f"{machine} {more}".rstrip() for machine, more in machine_pools(pools))


def job_url(name: str) -> str:
    """Returns the URL of a job's page."""
    return f"/jobs/{quote(name)}"


def search_url(name: str) -> str:
    """Returns the URL of the page of a tuning job's trials."""
    return f"/searches/{quote(name)}"


def search_name(run: str) -> str:
    """Returns the name of the tuning job for the job that runs a trial."""
    return str(tuning_job_name(parse_job_name(run)))


def run_name(search: str, number: int) -> str:
    """Returns the name of the job that runs a trial."""
    return str(trial_run_name(parse_job_name(search), number))


def experiment_url(name: str) -> str:
    """Returns the URL of the page of an experiment, in a TensorBoard or not."""
    return f"/experiments/{quote(name)}"


def model_url(name: str) -> str:
    return f"/models/{quote(name)}"


def pretty(value: JsonValue) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def resource(name: str, number: int = 2) -> str:
    """Returns what ``number`` units of a resource are called: ``vCPUs``, ``memory``,
    ``NVIDIA_TESLA_T4``.
    """
    return "memory" if name == MEMORY_MB else say_resource(name, number)


def amount(number: int, name: str) -> str:
    return say_gb(number) if name == MEMORY_MB else str(number)


def size(count: int) -> str:
    """Formats bytes in powers of 1000: ``512 B``, ``1.5 kB``, ``2.3 GB``."""
    number, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if number < _THOUSAND:
            break
        number, unit = number / _THOUSAND, larger
    return f"{number:.{0 if number >= _TEN or unit == 'B' else 1}f} {unit}"


def icon(state: str) -> str:
    return ICONS.get(state) or _TRIAL_ICONS.get(state, "\u2022")


def kind_title(kind: str) -> str:
    return KINDS.get(kind, kind)


FILTERS: Mapping[str, Callable[..., object]] = {
    "duration": duration,
    "age": age,
    "absolute": absolute,
    "between": between,
    "machine_pools": machine_pools,
    "machines": machines,
    "job_url": job_url,
    "search_url": search_url,
    "search_name": search_name,
    "run_name": run_name,
    "experiment_url": experiment_url,
    "model_url": model_url,
    "shell": shell_quote,
    "pretty": pretty,
    "icon": icon,
    "resource": resource,
    "amount": amount,
    "size": size,
    "kind": kind_title,
}
