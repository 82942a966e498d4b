"""Which attempts may still speak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import NotFound, PermissionDenied
from footplate.domain.names import parse_attempt_id

if TYPE_CHECKING:
    from footplate.domain.jobs import Job
    from footplate.domain.names import AttemptId
    from footplate.ports.store import Store


def current(store: Store, attempt_id: AttemptId) -> Job:
    """The job whose current attempt this is.

    Raises:
        PermissionDenied: the attempt is over, or its job is gone.
    """
    uid, attempt = parse_attempt_id(attempt_id)
    try:
        job = store.get_by_uid(uid)
    except NotFound:
        raise PermissionDenied(f"attempt {attempt_id}: its job is not here") from None
    if job.attempt != attempt or job.state.terminal:
        raise PermissionDenied(f"attempt {attempt_id} is over")
    return job
