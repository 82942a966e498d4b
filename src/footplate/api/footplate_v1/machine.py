"""Routes of Footplate's own API: what a server's machine enforces, and its environments."""

from __future__ import annotations

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.ports.machine import CachedEnvironment, Machine
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time

MOST = 500
"""Environments in one answer; the sizes count all."""


def machine_routes(machine: Machine) -> list[Route]:
    def limits(_call: Call) -> JsonObject:
        return {
            "limits": [
                {"subject": each.subject, "enforced": each.enforced, "text": each.text}
                for each in machine.limits()
            ]
        }

    def environments(_call: Call) -> JsonObject:
        cache = machine.cache()
        return {
            "path": cache.path,
            "limitBytes": cache.limit_bytes,
            "freeBytes": cache.free_bytes,
            "count": len(cache.environments),
            "sizeBytes": sum(each.size_bytes for each in cache.environments),
            "environments": [_document(each) for each in cache.environments[:MOST]],
        }

    return [
        json_route("/footplate/v1/limits", {"GET": limits}),
        json_route("/footplate/v1/environments", {"GET": environments}),
    ]


def _document(each: CachedEnvironment) -> JsonObject:
    return {
        "kind": each.kind,
        "key": each.key,
        "runtime": each.runtime,
        "slice": each.slice,
        "python": each.python,
        "packages": [*each.packages],
        "sizeBytes": each.size_bytes,
        "lastUseTime": format_time(each.last_use_time),
        "inUse": each.in_use,
        "kept": each.kept,
        "complete": each.complete,
    }
