"""Access control: checks host, origin and token of every request.

Nothing but a loopback name, or one that the operator allows, may stand in ``Host`` (a rebound DNS
name is refused), no web page of another origin may call, and where a token is set every call
bears it. Refusals are 403, never 401: Google's clients answer 401 with a refresh of credentials
that they don't have, and hide our message.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.api.worker_threads import in_thread
from footplate.domain.errors import PermissionDenied, ServiceError

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
_PAGES = (
    *("/jobs", "/searches", "/submit", "/experiments", "/models", "/capacity", "/system"),
    *("/terminal", "/connect", "/sign-in", "/sign-out", "/not-found", "/buckets"),
)
_NO_TOKEN_PATHS = ("/healthz", "/", *_PAGES)
_KEYS_PREFIX = "/programs/"
_KEYED_PREFIXES = ("/replica/", "/shell/", _KEYS_PREFIX)
DISCOVERY_PREFIXES = ("/discovery/", "/$discovery/")
"""Documents that say what can be called, which Google's clients read before they show a token."""
_NO_TOKEN_PREFIXES = (
    *("/console/", *(f"{page}/" for page in _PAGES)),
    *(*_KEYED_PREFIXES, *DISCOVERY_PREFIXES),
)
"""The console's pages check a cookie, and then call operations with the token.
Supervisors have tokens of their own, which the replica API checks, and so have the addresses of
shells, and those by which programs reach the buckets."""
_PROGRAMS_PREFIXES = (
    *("/storage/v1/", "/upload/storage/v1/", "/resumable/upload/storage/v1/"),
    *("/download/storage/v1/", "/batch/storage/v1", "/v2/entries:write"),
)
"""What programs reach with the key of their address as token, too: gcloud uploads at the root, and
Google's clients have no setting for where they write entries."""
_CHECKED = ("http", "websocket")
SERVED_HOST = "footplate.served_host"
"""In the scope of what came through the proxy: the name that the client asked it for."""
OWN_URL = "footplate.own_url"
"""There, too: the address of this server."""
_PROTECTION = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"sandbox; default-src 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Stored objects are the users' files: shown by a browser they must not act as this origin, nor
be drawn into pages of others as scripts or pictures, which browsers ask for without ``Origin``."""


@dataclass(frozen=True)
class Access:
    """The rules of who may call. ``host_names`` are allowed besides loopback.

    Without ``token`` every local caller is allowed. ``check_key`` raises a ServiceError if its
    argument isn't the key of a running program. ``note_wrong`` gets the scope of each call with a
    wrong token.
    """

    token: str | None = None
    host_names: frozenset[str] = frozenset()
    check_key: Callable[[str], object] | None = None
    note_wrong: Callable[[Scope], Awaitable[None]] | None = None

    @classmethod
    def at(cls, url: str, token: str | None, host_names: Iterable[str]) -> Access:
        """Makes the access of a server whose own supervisors send the host of ``url``."""
        own = urlsplit(url).hostname
        return cls(token, frozenset((*host_names, own) if own else host_names))


class SameOrigin:
    """Middleware that refuses foreign ``Host`` and ``Origin`` headers, and adds headers that
    protect browsers.
    """

    def __init__(self, app: ASGIApp, host_names: frozenset[str]) -> None:
        self._app = app
        self._host_names = frozenset(name.lower() for name in host_names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in _CHECKED:
            await self._app(scope, receive, send)
            return

        async def protect(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                names = {name for name, _ in given}
                message["headers"] = given + [line for line in _PROTECTION if line[0] not in names]
            await send(message)

        served = scope.get(SERVED_HOST)
        self._check(_values(scope, b"host"), _values(scope, b"origin"), served)
        await self._app(scope, receive, protect)

    def _check(self, hosts: list[str], origins: list[str], served: str | None) -> None:
        if len(hosts) != 1 or not (self._allows(hosts[0]) or _is_served(hosts[0], served)):
            raise PermissionDenied(
                f"this server refuses requests to the host {', '.join(hosts)[:200]!r}; call "
                "127.0.0.1 or localhost, or have the operator add the host to the setting "
                "allowed_hosts"
            )
        own = {f"{scheme}://{hosts[0].lower()}" for scheme in ("http", "https")}
        if any(origin.lower() not in own for origin in origins):
            raise PermissionDenied(
                "this server refuses requests from pages of the Origin "
                f"{', '.join(origins)[:200]!r}: it answers only its own pages"
            )

    def _allows(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match[1].strip("[]").lower()
        return name == "localhost" or name in self._host_names or _is_loopback(name)


class TokenCheck:
    """Middleware that refuses calls without the token, if set; programs' keys open buckets."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._token = access.token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._token and scope["type"] in _CHECKED and not needs_no_token(scope["path"]):
            given = given_token(scope)
            if given is None:
                raise PermissionDenied(
                    "this server requires a token: set FOOTPLATE_TOKEN for `footplate` commands; "
                    "other clients send `Authorization: Bearer TOKEN`, `x-goog-api-key: TOKEN` "
                    "or `?key=TOKEN`"
                )
            # As bytes: `compare_digest` raises TypeError for a text that isn't ASCII.
            known = hmac.compare_digest(given.encode(), self._token.encode())
            if not (known or await check_key(self._access, scope["path"], given)):
                if self._access.note_wrong is not None:
                    await self._access.note_wrong(scope)
                raise PermissionDenied("the token of this request isn't the token of this server")
            scope = scope if known else lead_to_key(scope, given)
        await self._app(scope, receive, send)


async def check_key(access: Access, path: str, given: str) -> bool:
    """Returns whether ``given`` is the key of a running program and is accepted at ``path``."""
    if access.check_key is None or not path.startswith(_PROGRAMS_PREFIXES):
        return False
    try:
        await in_thread(access.check_key, given)
    except ServiceError:
        return False
    return True


def lead_to_key(scope: Scope, key: str) -> Scope:
    """Returns the scope with the key moved into the path, so that the key's own rights apply."""
    path = path_of_key(key)
    raw = scope.get("raw_path")
    return {
        **scope,
        "path": path + scope["path"],
        "raw_path": None if raw is None else path.encode() + raw,
    }


def path_of_key(key: str) -> str:
    return f"{_KEYS_PREFIX}{key}"


def _values(scope: Scope, name: bytes) -> list[str]:
    """Returns a header's values. Starlette's own lookup would convert all headers each time."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _is_served(host: str, served: str | None) -> bool:
    """Returns whether a request in a tunnel is for the host that the tunnel was opened to."""
    match = _HOST.fullmatch(host)
    return match is not None and served is not None and match[1].lower().rstrip(".") == served


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def needs_no_token(path: str) -> bool:
    """Returns whether the path needs no token: it is open to everyone, or has keys of its own."""
    return path in _NO_TOKEN_PATHS or path.startswith(_NO_TOKEN_PREFIXES)


def is_open_to_programs(path: str) -> bool:
    """Returns whether a program may call the path: it reveals nothing, or has keys of its own."""
    return path in ("/healthz", "/") or path.startswith((*_KEYED_PREFIXES, *DISCOVERY_PREFIXES))


def given_token(scope: Scope) -> str | None:
    """Returns the token of a request, in any form in which Google's clients send it; None if there
    is none.
    """
    headers = Headers(scope=scope)
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and bearer.strip():
        return bearer.strip()
    key = headers.get("x-goog-api-key") or QueryParams(scope["query_string"]).get("key")
    return key or None
