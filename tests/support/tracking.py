"""Resources of metadata stores and TensorBoards for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.tracking.names import TrackingName, parse_tracking_name
from footplate.domain.tracking.resources import Resource
from tests.support.jobs import CREATED

if TYPE_CHECKING:
    from datetime import datetime

HERE = "projects/demo/locations/us-central1"
STORE = f"{HERE}/metadataStores/default"
BOARD = f"{HERE}/tensorboards/1"


def name(text: str) -> TrackingName:
    return parse_tracking_name(text)


def make_resource(text: str, at: datetime = CREATED, uid: str = "", **fields: object) -> Resource:
    """Its uid is another for each name, if none is given."""
    return Resource(name(text), uid or f"uid of {text}", at, at, fields)
