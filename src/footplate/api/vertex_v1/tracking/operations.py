"""Long-running operations on metadata stores and TensorBoards: all are done when answered.

None is kept: its name says what was done and when, so that it is found again after any restart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self

from footplate.domain.errors import NotFound
from footplate.wire.vertex_v1.tracking_responses import done_json

if TYPE_CHECKING:
    from footplate.api.json_route import Call
    from footplate.api.vertex_v1.tracking.resources import ResourcesApi
    from footplate.control.tracking import Resources
    from footplate.domain.tracking.names import TrackingName
    from footplate.wire.json_text import JsonObject
    from footplate.wire.vertex_v1.tracking_kinds import Kind

_ID = re.compile(r"(create|update|delete)-(v1|v1beta1)-([0-9]{1,17})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class TrackingOperationId:
    """What was done to a resource, by which version of the API."""

    verb: str
    api_version: str
    at: datetime

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None: no operation has this id."""
        match = _ID.fullmatch(text)
        return match and cls(match[1], match[2], _EPOCH + int(match[3]) * _MICROSECOND)

    def __str__(self) -> str:
        return f"{self.verb}-{self.api_version}-{(self.at - _EPOCH) // _MICROSECOND}"

    def answer(self, kind: Kind, resource: TrackingName, response: JsonObject | None) -> JsonObject:
        name = f"{resource}/operations/{self}"
        return done_json(name, kind, self.verb, self.at, self.api_version, response)


class TrackingOperations:
    """The operations of the resources of one kind."""

    def __init__(self, kind: Kind, api: ResourcesApi, resources: Resources) -> None:
        self._kind = kind
        self._api = api
        self._resources = resources

    def none(self, _call: Call) -> JsonObject:
        return {}

    def get(self, call: Call) -> JsonObject:
        name, text = self._api.name(call), call.path["operation"]
        found = TrackingOperationId.parse(text)
        if found is not None and self._resources.exists(name) is (found.verb != "delete"):
            response = None if found.verb == "delete" else self._api.get(call)
            return found.answer(self._kind, name, response)
        raise NotFound(f"there is no operation {text[:200]!r} of {name}")

    def leave(self, call: Call) -> JsonObject:
        """Completed operations cannot be cancelled, and are not stored."""
        self.get(call)
        return {}
