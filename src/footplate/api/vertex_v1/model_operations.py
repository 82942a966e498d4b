"""Long-running operations on models.

An upload, and the deletion of a version, are done when they are answered; the name says what was
done and when. Exports are kept with their model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from starlette.routing import Route

from footplate.api.json_route import Call
from footplate.api.operations import deleted, done_operation_routes
from footplate.api.vertex_v1.parents import location_of
from footplate.control.models import ModelRegistry
from footplate.domain.errors import NotFound
from footplate.domain.model_registry import Export
from footplate.domain.names import ModelName
from footplate.domain.timestamps import from_micros, to_micros
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.model_responses import export_operation, upload_operation

_ID = re.compile(r"(upload|deleteVersion)-(v1|v1beta1)-([1-9][0-9]{0,8})-([0-9]{1,17})")
_EXPORT = re.compile(r"export-([1-9][0-9]{0,8})")


@dataclass(frozen=True)
class ModelOperationId:
    """The id of an operation on version ``number`` of a model, by a call of ``api_version``."""

    kind: str
    api_version: str
    number: int
    at: datetime

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Returns the parsed id; None if no operation has such an id."""
        match = _ID.fullmatch(text)
        if match is None:
            return None
        return cls(match[1], match[2], int(match[3]), from_micros(int(match[4])))

    def __str__(self) -> str:
        return f"{self.kind}-{self.api_version}-{self.number}-{to_micros(self.at)}"

    def answer(self, model: ModelName) -> JsonObject:
        name = f"{model}/operations/{self}"
        if self.kind == "upload":
            return upload_operation(name, self.at, self.api_version, str(model), self.number)
        return deleted(name, self.at, self.api_version)


def export_name(model: ModelName, export: Export) -> str:
    return f"{model}/operations/export-{export.number}"


def model_operation_routes(registry: ModelRegistry) -> list[Route]:
    return done_operation_routes("/models/{model}", _ModelOperations(registry).get)


class _ModelOperations:
    def __init__(self, registry: ModelRegistry) -> None:
        self._registry = registry

    def get(self, call: Call) -> JsonObject:
        here, text = location_of(call), call.path["operation"]
        name = ModelName(here.project, here.location, call.path["model"].partition("@")[0])
        model, _ = self._registry.get(name)
        if match := _EXPORT.fullmatch(text):
            for export in model.exports:
                if export.number == int(match[1]):
                    return export_operation(export_name(name, export), export)
        elif (found := ModelOperationId.parse(text)) is not None:
            exists = any(version.number == found.number for version in model.versions)
            if exists is (found.kind == "upload"):
                return found.answer(name)
        raise NotFound(f"there is no operation {text[:200]!r} of {name}")
