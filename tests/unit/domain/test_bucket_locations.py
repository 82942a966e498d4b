"""Where buckets lie, and which regions that covers."""

from __future__ import annotations

import pytest

from footplate.domain.bucket_locations import covers, location_type, read_location
from footplate.domain.errors import InvalidArgument


@pytest.mark.parametrize(
    ("text", "location", "kind"),
    [
        ("", "US", "multi-region"),
        ("eu", "EU", "multi-region"),
        ("Nam4", "NAM4", "dual-region"),
        ("us-central1", "US-CENTRAL1", "region"),
        ("NORTHAMERICA-NORTHEAST1", "NORTHAMERICA-NORTHEAST1", "region"),
    ],
)
def test_locations(text: str, location: str, kind: str) -> None:
    assert read_location(text) == location
    assert location_type(location) == kind


@pytest.mark.parametrize("text", ["mars", "us-central1-a", "US ", "us-1", "-", "x" * 99, "ü"])
def test_what_is_no_location(text: str) -> None:
    with pytest.raises(InvalidArgument, match="such as us-central1, ASIA, EU, US, ASIA1"):
        read_location(text)


@pytest.mark.parametrize(
    ("location", "region", "covered"),
    [
        ("US", "us-central1", True),
        ("US", "europe-west4", False),
        ("US", "northamerica-northeast1", False),
        ("EU", "europe-west4", True),
        ("EU", "europe-west2", False),
        ("EU", "europe-west6", False),
        ("ASIA", "asia-east1", True),
        ("NAM4", "us-east1", True),
        ("NAM4", "us-west1", False),
        ("US-CENTRAL1", "us-central1", True),
        ("US-CENTRAL1", "us-central2", False),
    ],
)
def test_what_a_location_covers(location: str, region: str, *, covered: bool) -> None:
    assert covers(location, region) is covered
