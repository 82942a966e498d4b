"""The differences between jobs: in what was asked for, in their runs, in their metrics. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footplate.console.formatting import duration, kind_title, machines, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NONE = "\u2013"


@dataclass(frozen=True)
class Line:
    """The values of all jobs for one title, in the order of the jobs."""

    title: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class Comparison:
    """A comparison of jobs. ``same`` are the fields that are equal in all jobs' requests."""

    runs: tuple[Line, ...]
    metrics: tuple[Line, ...]
    different: tuple[Line, ...]
    same: tuple[Line, ...]


def compare(jobs: Sequence[Any], series: Sequence[Sequence[Any]]) -> Comparison:
    """Compares jobs. ``series`` are those of each job's metrics."""
    requests = [dict(_flat({**job["request"], "labels": job.get("labels", {})})) for job in jobs]
    asked = _lines(requests)
    return Comparison(
        runs=_lines([dict(_run(job)) for job in jobs]),
        metrics=_lines([dict(_last_values(each)) for each in series]),
        different=tuple(line for line in asked if line.differs),
        same=tuple(line for line in asked if not line.differs),
    )


def _lines(found: Sequence[Mapping[str, str]]) -> tuple[Line, ...]:
    titles = dict.fromkeys(title for each in found for title in each)
    return tuple(Line(title, tuple(each.get(title, NONE) for each in found)) for title in titles)


def _run(job: Any) -> Iterator[tuple[str, str]]:
    yield "state", str(job["state"]).lower()
    yield "why", str(job.get("message", ""))
    yield "kind", kind_title(str(job["kind"]))
    yield "project", str(job["project"])
    yield "region", str(job["region"])
    yield "machines", machines(job["machines"])
    yield "restarts", str(job["restarts"])
    if job.get("startTime") and job.get("endTime"):
        seconds = (parse(job["endTime"]) - parse(job["startTime"])).total_seconds()
        yield "ran", duration(seconds)


def _last_values(series: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yields last values by metric; the name contains the source if several metrics share it."""
    names = [str(each["metric"]) for each in series]
    for each in series:
        values = [value for value in each["values"] if value is not None]
        name = str(each["metric"])
        title = name if names.count(name) == 1 else f"{name} ({each['source']})"
        if values:
            last = values[-1]
            yield title, f"{last:.6g}" if isinstance(last, float) else str(last)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yields each value with its path, such as ``jobSpec.workerPoolSpecs[0].replicaCount``."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _flat(each, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for at, each in enumerate(value):
            yield from _flat(each, f"{path}[{at}]")
    elif isinstance(value, list):
        yield path, " ".join(map(str, value))
    else:
        yield path, str(value)
