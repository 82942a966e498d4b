"""Keys by which programs on other machines call the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.current_attempts import current
from footplate.control.tokens import Tokens, derive
from footplate.domain.callers import Caller, CallerKind
from footplate.domain.errors import NotFound, PermissionDenied, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.control.program_calls import ProgramCalls
    from footplate.control.tokens import Bearer
    from footplate.domain.jobs import Job
    from footplate.ports.store import Store


class ProgramKeys:
    """A key says whose program calls, and nothing of what that may do.

    It is another than that of the program's storage address, which stands in messages of clients.
    It is good as long as that start of the replica is the current one.
    """

    def __init__(self, store: Store, secret: bytes) -> None:
        self._store = store
        self._keys = Tokens(derive(secret, "programs' calls"))

    def issue(self, bearer: Bearer) -> str:
        return self._keys.issue(bearer)

    def find(self, key: str) -> Caller | None:
        """Returns whose key it is; None: none of ours. Raises what ``current`` raises."""
        try:
            bearer = self._keys.check(key)
        except PermissionDenied:
            return None
        return Caller(CallerKind.PROGRAM, current(self._store, bearer).attempt_id)


class KeyedCalls:
    """Decides on calls by their keys; ``storage`` raises a ServiceError for no key to buckets."""

    def __init__(
        self, keys: ProgramKeys, storage: Callable[[str], Job], calls: ProgramCalls
    ) -> None:
        self._keys = keys
        self._storage = storage
        self._calls = calls

    def check(self, key: str) -> str:
        """Returns the name of the program's job.

        Raises PermissionDenied: its program may not call; NotFound: it is no key.
        """
        caller = self._keys.find(key)
        if caller is not None:
            return self._calls.check(caller)
        try:
            job = self._storage(key)
        except ServiceError:
            raise NotFound("this port serves only programs that send their key") from None
        self._calls.check(Caller(CallerKind.PROGRAM, job.attempt_id))
        raise PermissionDenied(
            f"this key of the program of {job.name} opens only buckets and its log. For the "
            "API send the token in its variable FOOTPLATE_TOKEN"
        )
