"""Checks the responses to control requests."""

from __future__ import annotations

from footplate.domain.errors import InvalidArgument, Violation
from footplate.protocol.control_requests import ControlResponse
from footplate.wire.json_text import describe, parse_object

MAX_ANSWER_BYTES = 4 << 20
"""Of the body that answers one control request."""
MAX_ERROR_LENGTH = 1000


def decode_control_response(body: bytes) -> ControlResponse:
    """Decodes a replica's response. Raises InvalidArgument."""
    value = parse_object(body)
    text, error = value.get("text", ""), value.get("error", "")
    if not isinstance(text, str) or not isinstance(error, str) or bool(text) == bool(error):
        given = {name: value[name] for name in ("text", "error") if name in value}
        rule = "either a text or an error"
        raise InvalidArgument.of((Violation("text", f"{describe(given)} given; allowed: {rule}"),))
    return ControlResponse(text, error[:MAX_ERROR_LENGTH])
