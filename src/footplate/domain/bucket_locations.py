"""Bucket locations, and the regions that they cover. Pure.

Source: cloud.google.com/storage/docs/locations.
"""

from __future__ import annotations

import re

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import quoted

DEFAULT_LOCATION = "US"
_MULTI_REGIONS = {"ASIA": "asia-", "EU": "europe-", "US": "us-"}
"""By how the names of their regions begin."""
_NOT_EU = frozenset({"europe-west2", "europe-west6"})
"""London and Zurich."""
_DUAL_REGIONS = {
    "ASIA1": ("asia-northeast1", "asia-northeast2"),
    "EUR4": ("europe-north1", "europe-west4"),
    "EUR5": ("europe-west1", "europe-west2"),
    "EUR7": ("europe-west2", "europe-west3"),
    "EUR8": ("europe-west3", "europe-west6"),
    "NAM4": ("us-central1", "us-east1"),
}
_REGION = re.compile(r"(?=.{1,63}\Z)[A-Z]+(-[A-Z]+)*-[A-Z]+[0-9]+")


def read_location(text: str) -> str:
    """Returns the location in capitals, as Cloud Storage writes it; empty text gives the default.

    Raises:
        InvalidArgument: it is neither a multi-region nor a dual-region, and no region's name.
    """
    location = text.upper() or DEFAULT_LOCATION
    if location in _MULTI_REGIONS or location in _DUAL_REGIONS or _REGION.fullmatch(location):
        return location
    listed = ", ".join([*_MULTI_REGIONS, *_DUAL_REGIONS])
    said = f"{quoted(text)} given; allowed: a region such as us-central1, {listed}"
    raise InvalidArgument.of((Violation("location", said),))


def location_type(location: str) -> str:
    """Returns the type of a location: ``region``, ``dual-region`` or ``multi-region``."""
    if location in _MULTI_REGIONS:
        return "multi-region"
    return "dual-region" if location in _DUAL_REGIONS else "region"


def covers(location: str, region: str) -> bool:
    """Returns whether a bucket in ``location`` has its data in ``region`` or its multi-region."""
    if location in _MULTI_REGIONS:
        return region.startswith(_MULTI_REGIONS[location]) and not (
            location == "EU" and region in _NOT_EU
        )
    return region in _DUAL_REGIONS.get(location, (location.lower(),))
