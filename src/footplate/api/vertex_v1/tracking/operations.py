"""Long-running operations on metadata stores and TensorBoards: all are done when answered.

None is kept: its name says what was done and when, so that it is found again after any restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import NotFound
from footplate.wire.vertex_v1.tracking_operations import TrackingOperationId

if TYPE_CHECKING:
    from footplate.api.json_route import Call
    from footplate.api.vertex_v1.tracking.resources import ResourcesApi
    from footplate.control.tracking import Resources
    from footplate.wire.json_text import JsonObject
    from footplate.wire.vertex_v1.tracking_kinds import Kind


class TrackingOperations:
    """Handlers that return operations on resources of one kind."""

    def __init__(self, kind: Kind, api: ResourcesApi, resources: Resources) -> None:
        self._kind = kind
        self._api = api
        self._resources = resources

    def get(self, call: Call) -> JsonObject:
        name, text = self._api.name(call), call.path["operation"]
        found = TrackingOperationId.parse(text)
        if found is not None and self._resources.exists(name) is (found.verb != "delete"):
            response = None if found.verb == "delete" else self._api.get(call)
            return found.answer(self._kind, name, response)
        raise NotFound(f"there is no operation {text[:200]!r} of {name}")
