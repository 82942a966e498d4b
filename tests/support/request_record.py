"""Keeps what clients asked a service for, and what it answered.

``tools/make_clients_reference.py`` makes a page of it.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
from prometheus_client.parser import text_string_to_metric_families

from footplate.testing.service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.testing.service import RunningService

RECORDS = Path(__file__).resolve().parents[2] / ".cache" / "requests"
_FAMILY = "footplate_requests"


@contextmanager
def recorded_service(
    data_dir: Path, cache_dir: Path | None = None, **settings: object
) -> Iterator[RunningService]:
    """As ``running_service``."""
    with running_service(data_dir, cache_dir, **settings) as service:
        yield service
        record(service)


def record(service: RunningService) -> None:
    """What was asked since the server began."""
    families = text_string_to_metric_families(httpx.get(f"{service.url}/metrics").text)
    samples = [sample for family in families if family.name == _FAMILY for sample in family.samples]
    RECORDS.mkdir(parents=True, exist_ok=True)
    text = json.dumps([sample.labels for sample in samples if sample.name == f"{_FAMILY}_total"])
    (RECORDS / f"{uuid4().hex}.json").write_text(text)
