"""``footplate ai-platform locations``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from click.testing import Result

from footplate.api.app import create_app
from footplate.api.locations import location_routes
from footplate.api.security import Access
from footplate.catalogue import load_catalogue
from tests.support.http_server import serve


@pytest.fixture(autouse=True)
def served(invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """``invoke`` talks to a server with the built-in regions."""
    with serve(create_app(location_routes(load_catalogue()), Access())) as url:
        monkeypatch.setenv("FOOTPLATE_URL", url)
        yield


def test_locations_are_listed(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "locations", "list")
    heading, *rows = result.stdout.splitlines()
    assert heading.split() == ["NAME", "TYPE", "AVAILABLE_ACCELERATORS"]
    assert [row.split()[0] for row in rows] == list(load_catalogue().regions)
    assert "asia-south1 TRAINING NVIDIA_TESLA_T4" in [" ".join(row.split()) for row in rows]


def test_a_location_is_described(invoke: Callable[..., Result]) -> None:
    assert invoke("ai-platform", "locations", "describe", "asia-south1").stdout == (
        "capabilities:\n"
        "- availableAccelerators:\n"
        "  - NVIDIA_TESLA_T4\n"
        "  type: TRAINING\n"
        "locationId: asia-south1\n"
        "name: projects/demo/locations/asia-south1\n"
    )


def test_an_unknown_location(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "locations", "describe", "asia-south9")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "there is no location 'asia-south9' here; did you mean asia-south1" in result.stderr
