"""Ids of operations on metadata stores and TensorBoards: what was done to what, and when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from footplate.domain.timestamps import from_micros, to_micros
from footplate.domain.tracking.names import TrackingName
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.tracking_kinds import Kind
from footplate.wire.vertex_v1.tracking_responses import done_json

_ID = re.compile(r"(create|update|delete)-(v1|v1beta1)-([0-9]{1,17})")


@dataclass(frozen=True)
class TrackingOperationId:
    """An operation on a resource, with the API version that asked for it."""

    verb: str
    api_version: str
    at: datetime

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Returns the parsed id; None if no operation has such an id."""
        match = _ID.fullmatch(text)
        return match and cls(match[1], match[2], from_micros(int(match[3])))

    def __str__(self) -> str:
        return f"{self.verb}-{self.api_version}-{to_micros(self.at)}"

    def answer(self, kind: Kind, resource: TrackingName, response: JsonObject | None) -> JsonObject:
        name = f"{resource}/operations/{self}"
        return done_json(name, kind, self.verb, self.at, self.api_version, response)
