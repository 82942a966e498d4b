"""A server's machine, over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx

from footplate.api.app import create_app
from footplate.api.footplate_v1.machine import MOST, machine_routes
from footplate.api.security import Access
from footplate.ports.machine import CachedEnvironment, EnforcedLimit, EnvironmentCache
from tests.support.http_server import serve

LAYER = CachedEnvironment(
    kind="layers",
    key="0" * 32,
    runtime="2.11",
    slice="",
    python="",
    packages=("trainer",),
    size_bytes=10,
    last_use_time=datetime(2026, 1, 2, tzinfo=UTC),
    in_use=True,
    kept=False,
    complete=True,
)


class _Machine:
    def limits(self) -> Sequence[EnforcedLimit]:
        return (EnforcedLimit("memory", "by control groups", enforced=True),)

    def cache(self) -> EnvironmentCache:
        many = tuple(replace(LAYER, key=f"{at:032x}") for at in range(MOST + 1))
        return EnvironmentCache("/cache", 50, 7, many)


def test_limits_and_environments() -> None:
    with serve(create_app(machine_routes(_Machine()), Access())) as url:
        limits: Any = httpx.get(f"{url}/footplate/v1/limits").raise_for_status().json()
        cache: Any = httpx.get(f"{url}/footplate/v1/environments").raise_for_status().json()
    assert limits["limits"] == [
        {"subject": "memory", "enforced": True, "text": "by control groups"}
    ]
    assert (cache["path"], cache["limitBytes"], cache["freeBytes"]) == ("/cache", 50, 7)
    assert (cache["count"], cache["sizeBytes"]) == (MOST + 1, 10 * (MOST + 1))
    assert len(cache["environments"]) == MOST
    assert cache["environments"][0] == {
        "kind": "layers",
        "key": "0" * 32,
        "runtime": "2.11",
        "slice": "",
        "python": "",
        "packages": ["trainer"],
        "sizeBytes": 10,
        "lastUseTime": "2026-01-02T00:00:00.000000Z",
        "inUse": True,
        "kept": False,
        "complete": True,
    }
