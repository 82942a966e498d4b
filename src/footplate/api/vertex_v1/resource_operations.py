"""Long-running operations on persistent resources.

None is kept: its name says what was done and when, and the resource whether it is done.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from footplate.api.operations import deleted
from footplate.domain.persistent_resources import ResourceState
from footplate.domain.timestamps import from_micros, to_micros
from footplate.wire.timestamps import format_time

if TYPE_CHECKING:
    from datetime import datetime

    from footplate.domain.names import PersistentResourceName
    from footplate.domain.persistent_resources import PersistentResource
    from footplate.wire.json_text import JsonObject

_ID = re.compile(r"([1-9][0-9]{0,16})([0-3])([01])")
"""Microseconds, the kind and the version of the API. gcloud reads a number."""
_KINDS = ("create", "update", "reboot", "delete")
_VERSIONS = ("v1", "v1beta1")
_TYPES = "type.googleapis.com/google.cloud.aiplatform"
_UNDER_WAY = {
    "create": ResourceState.PROVISIONING,
    "update": ResourceState.UPDATING,
    "reboot": ResourceState.REBOOTING,
}
"""The state of the resource while the operation isn't done."""


@dataclass(frozen=True)
class ResourceOperationId:
    kind: str
    api_version: str
    at: datetime

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Returns the parsed id; None if no operation has such an id."""
        match = _ID.fullmatch(text)
        if match is None:
            return None
        return cls(_KINDS[int(match[2])], _VERSIONS[int(match[3])], from_micros(int(match[1])))

    def __str__(self) -> str:
        kind, version = _KINDS.index(self.kind), _VERSIONS.index(self.api_version)
        return f"{to_micros(self.at)}{kind}{version}"

    def may_be_of(self, resource: PersistentResource | None) -> bool:
        """Returns whether the operation can belong to a resource in its present state."""
        if self.kind == "delete":
            return resource is None or self._deletes(resource) or self.at < resource.create_time
        return resource is not None and resource.create_time <= self.at

    def answer(
        self, name: PersistentResourceName, resource: PersistentResource | None
    ) -> JsonObject:
        operation = f"{name}/operations/{self}"
        if self.kind == "delete":
            done = deleted(operation, self.at, self.api_version)
            if resource is None or not self._deletes(resource):
                return done
            return {**{key: done[key] for key in ("name", "metadata")}, "done": False}
        time = format_time(self.at)
        kind = f"{self.kind.capitalize()}PersistentResourceOperationMetadata"
        return {
            "name": operation,
            "metadata": {
                "@type": f"{_TYPES}.{self.api_version}.{kind}",
                "genericMetadata": {"createTime": time, "updateTime": time},
            },
            "done": resource is not None and resource.state is not _UNDER_WAY[self.kind],
        }

    def with_response(self, answer: JsonObject, resource: JsonObject) -> JsonObject:
        kind = f"{_TYPES}.{self.api_version}.PersistentResource"
        return {**answer, "response": {"@type": kind, **resource}}

    def with_progress(self, answer: JsonObject, text: str) -> JsonObject:
        if answer["done"] or self.kind == "delete" or not text:
            return answer
        metadata: Any = answer["metadata"]
        return {**answer, "metadata": {**metadata, "progressMessage": text}}

    def _deletes(self, resource: PersistentResource) -> bool:
        return resource.state is ResourceState.STOPPING and resource.create_time <= self.at
