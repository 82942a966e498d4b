"""The service itself: its servers, what it serves and to whom, and its runtimes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from footplate.console.audit_view import read_entries
from footplate.console.site import Site, Visit
from footplate.domain.errors import ServiceError

_SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? ([-+.\deE]+|NaN|[+-]Inf)")
_LABEL = re.compile(r'\b([a-z_]+)="((?:[^"\\]|\\.)*)"')
_REFUSED = 400
_MOST = 50
_CHANGES = 10


@dataclass(frozen=True)
class Sample:
    """One line of the answer of ``/metrics``."""

    name: str
    labels: Mapping[str, str]
    value: float


@dataclass
class Caller:
    """A calling program, by its own name, and its number of calls since the server's start."""

    program: str
    version: str
    transport: str
    calls: int = 0
    refused: int = 0


def system_routes(site: Site) -> list[Route]:
    return [site.page("/system", _show)]


async def _show(visit: Visit) -> Response:
    status: Any = await visit.get("/footplate/v1/status")
    catalogue: Any = await visit.get("/footplate/v1/catalogue")
    regions: Any = await visit.get("/footplate/v1/regions")
    health = await _answer(visit, "/healthz")
    samples = list(read_metrics((await visit.call("GET", "/metrics")).body.decode()))
    values = {each.name: each.value for each in samples if not each.labels}
    started = values.get("process_start_time_seconds")
    return visit.render(
        "system.html",
        service=status,
        health=health,
        started=datetime.fromtimestamp(started, UTC).isoformat() if started else "",
        memory_mb=round(values.get("process_resident_memory_bytes", 0) / 2**20),
        cpu_s=values.get("process_cpu_seconds_total", 0),
        proxy=await _answer(visit, "/footplate/v1/proxy"),
        regions=regions["regions"],
        limits=(await visit.get("/footplate/v1/limits"))["limits"],
        cache=await visit.get("/footplate/v1/environments"),
        callers=read_callers(samples)[:_MOST],
        most=_MOST,
        changed=(await read_entries(visit, _CHANGES))[0],
        runtimes=catalogue["runtimes"],
        counts={
            "machine types": len(catalogue["machineTypes"]),
            "accelerators": len(catalogue["accelerators"]),
            "regions": len(catalogue["regions"]),
            "scale tiers": len(catalogue["scaleTiers"]),
        },
    )


async def _answer(visit: Visit, path: str) -> Mapping[str, Any]:
    """Returns an operation's answer, or in ``refusal`` why it has none."""
    try:
        return await visit.get(path)
    except ServiceError as error:
        return {"refusal": error.message}


def read_metrics(text: str) -> Iterator[Sample]:
    """Yields samples; skips lines that aren't in Prometheus' format."""
    for line in text.splitlines():
        found = _SAMPLE.fullmatch(line)
        if found:
            labels = dict(_LABEL.findall(found[2] or ""))
            yield Sample(found[1], labels, float(found[3]))


def read_callers(samples: list[Sample]) -> list[Caller]:
    """Returns the callers, those with the most calls first."""
    found: dict[tuple[str, str, str], Caller] = {}
    for each in samples:
        if each.name == "footplate_requests_total":
            labels, count = each.labels, int(each.value)
            key = (labels["client"], labels["version"], labels["transport"])
            caller = found.setdefault(key, Caller(*key))
            caller.calls += count
            caller.refused += count if int(labels["status"]) >= _REFUSED else 0
    return sorted(found.values(), key=lambda caller: -caller.calls)
