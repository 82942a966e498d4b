"""Checks whether a supervisor belongs to the current attempt."""

from __future__ import annotations

from footplate.control.tokens import Bearer
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.domain.jobs import Job
from footplate.domain.names import parse_attempt_id
from footplate.ports.store import Store


def current(store: Store, bearer: Bearer) -> Job:
    """Returns the job whose current attempt the bearer is in.

    Raises:
        PermissionDenied: the attempt is over, its job is gone, or the replica has been restarted
            since.
        NotFound: the attempt has no such replica.
    """
    uid, attempt = parse_attempt_id(bearer.attempt_id)
    try:
        job = store.get_by_uid(uid)
    except NotFound:
        raise PermissionDenied(f"the job of attempt {bearer.attempt_id} no longer exists") from None
    if job.attempt != attempt or job.state.terminal:
        raise PermissionDenied(f"attempt {bearer.attempt_id} is over")
    replica = next((each for each in job.replicas if each.name == bearer.replica), None)
    if replica is None:
        raise NotFound(f"the job has no replica {bearer.replica}")
    if replica.restart != bearer.restart:
        raise PermissionDenied(
            f"replica {bearer.replica} has started again; this call is of an earlier start"
        )
    return job
