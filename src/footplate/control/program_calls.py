"""Decides which programs of jobs may call the API: those that the settings and their job allow."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from footplate.domain.bucket_sharing import EVERY
from footplate.domain.callers import Caller, CallerKind
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.domain.jobs import Job
from footplate.domain.names import parse_attempt_id
from footplate.ports.store import Store


def asks_for_access(job: Job, projects: Collection[str]) -> bool:
    """Returns whether the setting ``api_access`` allows calls, and the job asks for them."""
    named = not {job.name.project, EVERY}.isdisjoint(projects)
    return named and bool(job.spec.service_account)


class ProgramCalls:
    """Decides which programs may call the API.

    ``projects`` is the setting ``api_access``, where ``*`` means all. ``closed``: callers have
    shown a token or a cookie, which persons have: programs are refused, and callers that may be
    either are accepted as persons.
    """

    def __init__(
        self,
        store: Store,
        projects: Sequence[str],
        *,
        closed: bool = False,
    ) -> None:
        self._store = store
        self._projects = frozenset(projects)
        self._closed = closed

    def check(self, caller: Caller) -> str:
        """Returns the name of the job whose program calls; empty: a user calls.

        Raises PermissionDenied: the program may not call; the message says how to allow it.
        """
        if caller.kind is CallerKind.USER:
            return ""
        if caller.kind is CallerKind.UNKNOWN and self._closed and not caller.gone:
            return ""
        if caller.kind is CallerKind.UNKNOWN:
            raise PermissionDenied(
                (
                    f"this call may come from a job's program ({caller.reason}), so the server "
                    "refuses it; "
                )
                + (
                    "keep the connection open until the answer comes"
                    if self._closed
                    else "start the server with a token (setting token), and send that"
                )
            )
        job = self._find_job(caller)
        if job is None:
            raise PermissionDenied(
                "programs of jobs may not call this API, and the server can't tell whose "
                "program this is"
            )
        if self._closed:
            raise PermissionDenied(
                f"the program of {job.name} may not call this API: the server requires a token, "
                "and tokens are for persons"
            )
        if not self._projects & {job.name.project, EVERY}:
            raise PermissionDenied(
                f"the program of {job.name} may not call this API: the server's setting "
                f"api_access doesn't name the project {job.name.project!r}"
            )
        if not job.spec.service_account:
            raise PermissionDenied(
                f"the program of {job.name} may not call this API: its job has no "
                "serviceAccount, which asks for access"
            )
        return str(job.name)

    def _find_job(self, caller: Caller) -> Job | None:
        if caller.attempt_id is None:
            return None
        try:
            uid, attempt = parse_attempt_id(caller.attempt_id)
            job = self._store.get_by_uid(uid)
        except NotFound:
            return None
        return job if job.attempt == attempt and not job.state.terminal else None
