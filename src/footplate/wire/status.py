"""Errors as Google's services answer them (google.rpc.Status and its HTTP form)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Code

if TYPE_CHECKING:
    from footplate.domain.errors import ServiceError
    from footplate.wire.json_text import JsonObject

_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"


def error_json(error: ServiceError) -> JsonObject:
    """The body of an answer that is an error."""
    body: JsonObject = {
        "code": error.http_status,
        "message": error.message,
        "status": error.code.name,
    }
    if error.violations:
        body["details"] = [
            {
                "@type": _BAD_REQUEST,
                "fieldViolations": [
                    {"field": v.field, "description": v.description} for v in error.violations
                ],
            }
        ]
    return {"error": body}


def status_json(code: Code, message: str) -> JsonObject:
    """A google.rpc.Status within a resource; never with details, which clients may not know."""
    return {"code": (code or Code.UNKNOWN).value, "message": message}
