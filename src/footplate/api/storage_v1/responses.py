"""Responses in Cloud Storage's format, errors included; what methods take is checked here."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import TypeVarTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from footplate.api.storage_v1.accepted_parameters import check_parameters
from footplate.domain.errors import (
    Aborted,
    FailedPrecondition,
    InvalidArgument,
    ServiceError,
    Violation,
)
from footplate.wire.partial_responses import parse_fields, select_fields
from footplate.wire.status import message_of

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
_CUSTOMER_KEYS = ("x-goog-encryption-", "x-goog-copy-source-encryption-")
More = TypeVarTuple("More")


def checked(
    method: str, handler: Callable[[Request, *More], Response]
) -> Callable[[Request, *More], Response]:
    """Returns ``handler`` with a check of the request and a selection of the asked ``fields``."""

    def check(request: Request, *more: *More) -> Response:
        check_request(method, request)
        answer = handler(request, *more)
        fields = request.query_params.get("fields")
        if not fields or not isinstance(answer, JSONResponse) or answer.status_code != 200:
            return answer
        return JSONResponse(select_fields(json.loads(bytes(answer.body)), fields))

    return check


def check_request(method: str, request: Request) -> None:
    """Raises InvalidArgument if a parameter or header asks for something unsupported."""
    check_parameters(method, request.query_params)
    parse_fields(request.query_params.get("fields", ""))
    for name in request.headers:
        if name.startswith(_CUSTOMER_KEYS):
            said = (
                "customer-supplied encryption keys are not supported; encrypt the disk, "
                "or the objects before you upload them"
            )
            raise InvalidArgument.of((Violation(name, said),))


def answering(handler: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Returns ``handler`` with its ServiceErrors turned into answers."""

    @wraps(handler)
    def answer(request: Request) -> Response:
        try:
            return handler(request)
        except ServiceError as error:
            return error_answer(error)

    return answer


def error_answer(error: ServiceError, status: int | None = None) -> Response:
    """Returns the answer for an error; ``status`` overrides Cloud Storage's status for its kind."""
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
