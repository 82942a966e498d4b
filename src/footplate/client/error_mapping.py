"""Maps failed responses and connections to domain errors."""

from __future__ import annotations

from footplate.domain import errors
from footplate.wire.json_text import JsonObject, objects, parse_object


class NoServer(errors.Unavailable):
    """There is no server: nothing listens at the URL."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"no Footplate server answers at {url}; start one with `footplate up`, "
            "or set its address with --url or FOOTPLATE_URL"
        )
        self.url = url


class UntrustedCertificate(errors.FailedPrecondition):
    """The server's certificate is not trusted."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"the certificate of {url} isn't trusted ({reason}); if you trust it, set "
            "SSL_CERT_FILE to a file that contains this certificate"
        )
        self.url = url


class ConnectionBroke(errors.Unavailable):
    """The connection to the server ended in the middle of an answer."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"the connection to the Footplate server at {url} broke: {reason}")
        self.url = url


_BY_STATUS: dict[str, type[errors.ServiceError]] = {
    kind.code.name: kind
    for kind in (
        errors.Cancelled,
        errors.UnknownError,
        errors.InvalidArgument,
        errors.DeadlineExceeded,
        errors.NotFound,
        errors.AlreadyExists,
        errors.PermissionDenied,
        errors.ResourceExhausted,
        errors.FailedPrecondition,
        errors.Aborted,
        errors.OutOfRange,
        errors.Unimplemented,
        errors.Internal,
        errors.Unavailable,
        errors.DataLoss,
        errors.Unauthenticated,
    )
}

_BY_HTTP: dict[int, type[errors.ServiceError]] = {
    400: errors.InvalidArgument,
    401: errors.Unauthenticated,
    403: errors.PermissionDenied,
    404: errors.NotFound,
    409: errors.AlreadyExists,
    412: errors.FailedPrecondition,
    413: errors.InvalidArgument,
    429: errors.ResourceExhausted,
    501: errors.Unimplemented,
    503: errors.Unavailable,
    504: errors.DeadlineExceeded,
}


def read_failure(http_status: int, body: bytes, url: str) -> errors.ServiceError:
    """Returns the error in ``body`` in Google's JSON form, or one that says it has none."""
    error = _error_object(body)
    if error is None:
        kind = _BY_HTTP.get(http_status, errors.UnknownError)
        content = body[:200].decode("utf-8", "replace").strip() or "nothing"
        return kind(
            f"the server at {url} is not a Footplate server: it answered HTTP {http_status} with "
            f"{content}"
        )
    fallback = _BY_HTTP.get(http_status, errors.UnknownError)
    kind = _BY_STATUS.get(str(error.get("status")), fallback)
    return kind(str(error.get("message") or f"HTTP {http_status}"), _violations(error))


def _error_object(body: bytes) -> JsonObject | None:
    try:
        error = parse_object(body).get("error")
    except errors.InvalidArgument:
        return None
    return error if isinstance(error, dict) else None


def _violations(error: JsonObject) -> tuple[errors.Violation, ...]:
    found: list[errors.Violation] = []
    for detail in objects(error.get("details")):
        found.extend(
            errors.Violation(str(item.get("field", "")), str(item.get("description", "")))
            for item in objects(detail.get("fieldViolations"))
        )
    return tuple(found)
