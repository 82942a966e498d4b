"""Routes of Footplate's own API: what regions are bound to, and how their engines are."""

from __future__ import annotations

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.control.region_reports import RegionReport, RegionReports
from footplate.wire.json_text import JsonObject


def region_routes(reports: RegionReports) -> list[Route]:
    def show(_call: Call) -> JsonObject:
        return {"regions": [region_json(report) for report in reports.list()]}

    def check(call: Call) -> JsonObject:
        return region_json(reports.check(call.path["region"]))

    return [
        json_route("/footplate/v1/regions", {"GET": show}),
        json_route("/footplate/v1/regions/{region}/check", {"GET": check}),
    ]


def region_json(report: RegionReport) -> JsonObject:
    """Returns a region; ``machineTypes`` is ``["*"]`` where all of the catalogue's are taken.

    ``capacity`` and ``used`` are by resource: ``vcpus``, ``memory_mb``, names of accelerators.
    Where machines aren't reserved (``mode`` is ``emulate``), they are by ``replicas`` and ``gpus``.
    """
    document: JsonObject = {
        "name": report.region,
        "backend": report.backend,
        "where": report.where,
        "machineTypes": ["*"] if report.machine_types is None else [*report.machine_types],
        "accelerators": ["*"] if report.accelerators is None else [*report.accelerators],
        "facts": [*report.facts],
        "problems": [*report.problems],
    }
    if report.max_replicas:
        document["maxReplicas"] = report.max_replicas
    if report.mode:
        document["mode"] = report.mode
    if report.capacity:
        document["capacity"] = {**report.capacity}
        document["used"] = {name: report.used.get(name, 0) for name in report.capacity}
    if report.reachable is not None:
        document["reachable"] = report.reachable
    return document
