"""Leads Google's clients, in programs that may call the API, to this service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from urllib.parse import urlsplit

from footplate.control.program_calls import asks_for_access
from footplate.control.program_storage import make_address
from footplate.control.tokens import Bearer
from footplate.domain.jobs import Job

CALLER_USER = "caller"
"""The proxy's user where the password is a program's key to the API."""
_DIRECT = "localhost,127.0.0.1,::1"


@dataclass(frozen=True, eq=False)
class ProgramApi:
    """Makes Google's clients in programs call this service.

    ``projects`` is the setting ``api_access``, ``url`` the server's address. ``proxy_port`` is None
    if the server has no proxy. ``tells_callers``: on this machine the server recognises connections
    of programs. Programs on other machines send the key that ``make_key`` returns. ``make_account``
    returns the key file of a made-up service account, from the project, the email and the address
    where it requests tokens.
    """

    projects: Sequence[str] = ()
    url: str = ""
    proxy_port: int | None = None
    make_key: Callable[[Bearer], str] = lambda _: ""
    make_account: Callable[[str, str, str], str] = lambda _project, _email, _tokens: ""
    _: KW_ONLY
    tells_callers: bool = True

    def variables(self, job: Job, bearer: Bearer, relay: str = "") -> tuple[tuple[str, str], ...]:
        """Returns variables that send gRPC alone through the proxy, and the project's.

        ``relay`` is the address at which a program on another machine reaches the server.
        """
        if not asks_for_access(job, self.projects):
            return ()
        proxy = self._proxy(bearer, relay)
        leading = () if proxy is None else (("grpc_proxy", proxy), ("no_grpc_proxy", _DIRECT))
        project = ("GOOGLE_CLOUD_PROJECT", job.name.project)
        if not relay:
            return (*leading, project) if leading else ()
        key = self.make_key(bearer)
        return *leading, project, ("FOOTPLATE_URL", relay), ("FOOTPLATE_TOKEN", key)

    def account(self, job: Job, bearer: Bearer, relay: str = "") -> str:
        """Returns the path of the account file; '': gRPC doesn't go through the proxy."""
        email = job.spec.service_account
        asks = asks_for_access(job, self.projects)
        if not (email and asks and self._proxy(bearer, relay)):
            return ""
        tokens = f"{relay}/token?key={self.make_key(bearer)}" if relay else f"{self.url}/token"
        return self.make_account(job.name.project, email, tokens)

    def _proxy(self, bearer: Bearer, relay: str) -> str | None:
        """Returns the proxy's address; on other machines it is the launcher's. None: no proxy."""
        port = self.proxy_port
        if port is None:
            return None
        if relay:
            user = f"{CALLER_USER}:{self.make_key(bearer)}"
            return make_address(relay, urlsplit(relay).port or 0, user)
        return make_address(self.url, port) if self.tells_callers else None
