"""Errors in Google's format (google.rpc.Status over HTTP)."""

from __future__ import annotations

from footplate.domain.errors import Code, ServiceError
from footplate.wire.json_text import JsonObject

MAX_MESSAGE_LENGTH = 20_000
MAX_VIOLATIONS = 51
MAX_FIELD_LENGTH = 500
MAX_DESCRIPTION_LENGTH = 4000
"""A given value, quoted in a message, may be megabytes."""
_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"


def error_json(error: ServiceError) -> JsonObject:
    """Returns the body of an error's answer, with its size limited."""
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
    """Returns the error's message, shortened to the limit for answers."""
    return _cut(error.message, MAX_MESSAGE_LENGTH)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}..."


def status_json(code: Code, message: str) -> JsonObject:
    """Returns a google.rpc.Status for a resource, without the details of the error."""
    return {"code": (code or Code.UNKNOWN).value, "message": message}
