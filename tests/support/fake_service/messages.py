"""What is asked of the fake service, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

TIME = "2026-11-21T08:00:00.000000Z"


@dataclass(frozen=True)
class Request:
    """One request as it came in; ``path`` is decoded, ``query`` holds the last of each name."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    """A JSON body, or a stream of lines; bytes are sent as they are."""

    status: int = 200
    body: object = field(default_factory=dict)
    stream: Iterable[dict[str, object]] | None = None


Route = tuple[str, str, Callable[..., Answer]]
"""The method, a pattern of the path, and what answers: with the service, the request, and the
pattern's groups."""


def failure(http: int, status: str, message: str) -> Answer:
    return Answer(http, {"error": {"code": http, "status": status, "message": message}})
