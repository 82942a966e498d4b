"""One exception class for each google.rpc code, with a message that clients may see.

The tree::

    ServiceError
    ├── Cancelled           499    ├── PermissionDenied    403
    ├── UnknownError        500    ├── ResourceExhausted   429
    ├── InvalidArgument     400    ├── FailedPrecondition  400
    ├── DeadlineExceeded    504    ├── Aborted             409
    ├── NotFound            404    ├── OutOfRange          400
    ├── AlreadyExists       409    ├── Unimplemented       501
    ├── Internal            500    ├── Unavailable         503
    ├── DataLoss            500    └── Unauthenticated     401

Source: google/rpc/code.proto.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar


class Code(IntEnum):
    """The canonical codes of google.rpc."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


@dataclass(frozen=True)
class Violation:
    """A fault in a request: the path of the field, and what is allowed there."""

    field: str
    description: str


class ServiceError(Exception):
    """An error that a client may see; ``http_status`` is the HTTP status of its code."""

    code: ClassVar[Code] = Code.UNKNOWN
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, violations: tuple[Violation, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.violations = violations


class Cancelled(ServiceError):
    code = Code.CANCELLED
    http_status = 499


class UnknownError(ServiceError):
    pass


class InvalidArgument(ServiceError):
    code = Code.INVALID_ARGUMENT
    http_status = 400

    @classmethod
    def of(cls, violations: tuple[Violation, ...]) -> InvalidArgument:
        """Makes one error of all violations: ``field: description; field: ...``."""
        message = "; ".join(f"{v.field}: {v.description}" for v in violations)
        return cls(message, violations)


class DeadlineExceeded(ServiceError):
    code = Code.DEADLINE_EXCEEDED
    http_status = 504


class NotFound(ServiceError):
    code = Code.NOT_FOUND
    http_status = 404


class AlreadyExists(ServiceError):
    code = Code.ALREADY_EXISTS
    http_status = 409


def name_taken(name: object) -> AlreadyExists:
    """Makes the error for a job name that is in use; a submit and its dry run share its words."""
    return AlreadyExists(f"{name} already exists; a project can use each job name once")


def no_bucket(name: str) -> NotFound:
    """Makes the error for a missing bucket; the storage API, submits and their dry run share it."""
    return NotFound(
        f"there is no bucket {name!r} here; create it with `footplate storage buckets create "
        f"gs://{name}`. Add `--bind gs://{name}` to use the bucket of this name in the cloud"
    )


class PermissionDenied(ServiceError):
    code = Code.PERMISSION_DENIED
    http_status = 403


class ResourceExhausted(ServiceError):
    code = Code.RESOURCE_EXHAUSTED
    http_status = 429


class FailedPrecondition(ServiceError):
    code = Code.FAILED_PRECONDITION
    http_status = 400


class Aborted(ServiceError):
    """A guarded write found another version than expected: load the record and decide again."""

    code = Code.ABORTED
    http_status = 409


class OutOfRange(ServiceError):
    code = Code.OUT_OF_RANGE
    http_status = 400


class Unimplemented(ServiceError):
    code = Code.UNIMPLEMENTED
    http_status = 501


class Internal(ServiceError):
    code = Code.INTERNAL
    http_status = 500


class Unavailable(ServiceError):
    code = Code.UNAVAILABLE
    http_status = 503


class NotLeading(Unavailable):
    """The server is not the leader, or no longer; only the leader accepts such requests."""


class DataLoss(ServiceError):
    code = Code.DATA_LOSS
    http_status = 500


class Unauthenticated(ServiceError):
    code = Code.UNAUTHENTICATED
    http_status = 401
