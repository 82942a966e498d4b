"""Errors in Google's format (google.rpc.Status over HTTP)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Code

if TYPE_CHECKING:
    from footplate.domain.errors import ServiceError
    from footplate.wire.json_text import JsonObject

MAX_MESSAGE_LENGTH = 20_000
MAX_VIOLATIONS = 51
MAX_FIELD_LENGTH = 500
MAX_DESCRIPTION_LENGTH = 4000
"""A given value, quoted in a message, may be megabytes."""
_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"


def error_json(error: ServiceError) -> JsonObject:
    """The body of an answer that is an error, of a size that can be read."""
    body: JsonObject = {
        "code": error.http_status,
        "message": message_of(error),
        "status": error.code.name,
    }
    if error.violations:
        body["details"] = [
            {
                "@type": _BAD_REQUEST,
                "fieldViolations": [
                    {
                        "field": _cut(v.field, MAX_FIELD_LENGTH),
                        "description": _cut(v.description, MAX_DESCRIPTION_LENGTH),
                    }
                    for v in error.violations[:MAX_VIOLATIONS]
                ],
            }
        ]
    return {"error": body}


def message_of(error: ServiceError) -> str:
    """Returns the error's message, cut to the length that is answered."""
    return _cut(error.message, MAX_MESSAGE_LENGTH)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}..."


def status_json(code: Code, message: str) -> JsonObject:
    """A google.rpc.Status within a resource; never with details, which clients may not know."""
    return {"code": (code or Code.UNKNOWN).value, "message": message}
