"""Keys by which programs on other machines call the API."""

from __future__ import annotations

from collections.abc import Callable

from footplate.control.current_attempts import current
from footplate.control.program_calls import ProgramCalls
from footplate.control.tokens import Bearer, Tokens, derive
from footplate.domain.callers import Caller, CallerKind
from footplate.domain.errors import NotFound, PermissionDenied, ServiceError
from footplate.domain.jobs import Job
from footplate.ports.store import Store


class ProgramKeys:
    """The keys of programs; a key identifies the calling program, and grants no rights by itself.

    It differs from the key in the program's storage address, which appears in messages of clients.
    It is valid as long as that start of the replica is the current one.
    """

    def __init__(self, store: Store, secret: bytes) -> None:
        self._store = store
        self._keys = Tokens(derive(secret, "programs' calls"))

    def issue(self, bearer: Bearer) -> str:
        return self._keys.issue(bearer)

    def find(self, key: str) -> Caller | None:
        """Returns the owner of a key; None: it isn't a key. Raises what ``current`` raises."""
        try:
            bearer = self._keys.check(key)
        except PermissionDenied:
            return None
        return Caller(CallerKind.PROGRAM, current(self._store, bearer).attempt_id)


class KeyedCalls:
    """Authorises calls by their keys.

    ``storage`` returns the job of a key to the buckets, and raises a ServiceError for other keys.
    """

    def __init__(
        self, keys: ProgramKeys, storage: Callable[[str], Job], calls: ProgramCalls
    ) -> None:
        self._keys = keys
        self._storage = storage
        self._calls = calls

    def check(self, key: str) -> str:
        """Returns the name of the program's job.

        Raises PermissionDenied: the program may not call; NotFound: this is not a key.
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
