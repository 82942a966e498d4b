"""Responses in Cloud Storage's format, errors included."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from footplate.domain.errors import Aborted, FailedPrecondition, ServiceError
from footplate.wire.status import message_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

_REASONS = {
    400: "invalid",
    403: "forbidden",
    404: "notFound",
    409: "conflict",
    412: "conditionNotMet",
    416: "requestedRangeNotSatisfiable",
    501: "notImplemented",
}
"""Source: cloud.google.com/storage/docs/json_api/v1/status-codes."""


def answering(handler: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """``handler`` with its errors answered."""

    @wraps(handler)
    def answer(request: Request) -> Response:
        try:
            return handler(request)
        except ServiceError as error:
            return error_answer(error)

    return answer


def error_answer(error: ServiceError, status: int | None = None) -> Response:
    """``status`` overrides the one that Cloud Storage has for this kind of error."""
    code = status or _status(error)
    message, reason = message_of(error), _REASONS.get(code, "backendError")
    details = [{"message": message, "domain": "global", "reason": reason}]
    body = {
        "code": code,
        "message": message,
        "status": error.code.name,
        "errors": details,
    }
    return JSONResponse({"error": body}, status_code=code)


def _status(error: ServiceError) -> int:
    if isinstance(error, FailedPrecondition):
        return 412
    if isinstance(error, Aborted):
        return 503  # clients ask again only after such a one
    return error.http_status
