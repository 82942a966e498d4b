"""The answer about an event of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from footplate.wire.json_fields import read_number, read_text
from footplate.wire.json_text import JsonObject

if TYPE_CHECKING:
    from pydantic import JsonValue


@dataclass(frozen=True)
class Event:
    """An event of a job; ``number`` counts them from 1."""

    number: int
    time: str
    kind: str
    message: str
    attempt: int
    replica: str

    def encode(self) -> JsonObject:
        return asdict(self)

    @classmethod
    def decode(cls, resource: Mapping[str, JsonValue]) -> Event:
        return cls(
            number=read_number(resource, "number"),
            time=read_text(resource, "time"),
            kind=read_text(resource, "kind"),
            message=read_text(resource, "message"),
            attempt=read_number(resource, "attempt"),
            replica=read_text(resource, "replica"),
        )
