"""The JSON of control requests and responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_text import describe, parse_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from footplate.wire.json_text import JsonObject

MAX_ANSWER_BYTES = 4 << 20
"""Of the body that answers one control request."""
MAX_ERROR_LENGTH = 1000


@dataclass(frozen=True)
class ControlResponse:
    """A replica's response to a control request: ``text``, or an ``error`` with the reason."""

    text: str = ""
    error: str = ""


def encode_control_requests(control_requests: Iterable[tuple[str, str]], cursor: str) -> JsonObject:
    """Encodes control requests, which are pairs of id and kind.

    The supervisor returns ``cursor`` to acknowledge them.
    """
    return {
        "control_requests": [{"id": name, "kind": kind} for name, kind in control_requests],
        "cursor": cursor,
    }


def decode_control_response(body: bytes) -> ControlResponse:
    """Decodes a replica's response. Raises InvalidArgument."""
    value = parse_object(body)
    text, error = value.get("text", ""), value.get("error", "")
    if not isinstance(text, str) or not isinstance(error, str) or bool(text) == bool(error):
        given = {name: value[name] for name in ("text", "error") if name in value}
        rule = "either a text or an error"
        raise InvalidArgument.of((Violation("text", f"{describe(given)} given; allowed: {rule}"),))
    return ControlResponse(text, error[:MAX_ERROR_LENGTH])
