"""Routes with JSON requests and responses, backed by plain functions, and who calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from footplate.api.accepted_parameters import GOOGLES, Parameters
from footplate.api.client_names import name_client
from footplate.api.request_bodies import MAX_JSON_BYTES, read_body, require_json
from footplate.api.security import OWN_URL
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_model import JsonModel
from footplate.wire.json_text import JsonObject, describe, parse_object
from footplate.wire.scope_keys import NAME_USER, PROGRAM


def name_caller(request: Request) -> str:
    """Returns the caller's program, as it names itself, and address: ``gcloud at 127.0.0.1``."""
    program = name_client(request.headers)
    return f"{program} at {request.client.host}" if request.client else program


def find_author(scope: Scope) -> str:
    """Returns the caller's name; '' if unknown.

    This is a user of this machine (``alice``), the address of another machine, or the name of the
    job whose program calls.
    """
    if job := scope.get(PROGRAM):
        return str(job)
    name_user = scope.get(NAME_USER)
    return name_user() if name_user else ""


_MOST_DIGITS = 9
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


@dataclass(frozen=True)
class Call:
    """One call. ``path`` has the variables of the route's path."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    raw_body: bytes = b""
    origin: str = ""
    """The server, as the caller reaches it: ``http://HOST:PORT``."""
    server: str = ""
    """As browsers reach it, which ``footplate run`` leads nowhere."""
    caller: str = ""
    """Who calls, as far as he says it."""
    find_author: Callable[[], str] = str
    """Returns who calls, as far as this machine knows; empty: it doesn't."""
    repeats: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The query parameters that stand in the URL several times."""
    bound: tuple[str, ...] = ()
    """The names that the URL of a custom method (``NAME:export``) may stand for."""

    def body(self) -> JsonObject:
        """Returns the body's JSON object; {} if there is no body. Raises InvalidArgument.

        The whole request is the body of a custom method, so it may repeat what the URL names.
        """
        given = parse_object(self.raw_body) if self.raw_body.strip() else {}
        return {name: value for name, value in given.items() if value not in self.bound}

    def check_empty(self) -> None:
        """Raises InvalidArgument if the body has fields: the method takes none."""
        JsonModel.decode(self.body())

    def parameter(self, name: str, snake: str = "") -> str | None:
        """Returns a query parameter in either spelling: Google's services accept both."""
        return self.query.get(name) or self.query.get(snake)

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """Returns a query parameter that is a number. Raises InvalidArgument."""
        text = self.parameter(name)
        if text is None:
            return default
        plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
        if not plain or not least <= int(text) <= most:
            rule = f"{describe(text)} given; allowed: an integer from {least} to {most}"
            raise InvalidArgument.of((Violation(name, rule),))
        return int(text)

    def repeated(self, name: str, snake: str) -> tuple[str, ...]:
        """Returns the values of a query parameter that is a list."""
        return tuple(
            value
            for key in (name, snake)
            for value in self.repeats.get(key) or filter(None, (self.query.get(key),))
        )


def json_route(path: str, handlers: Mapping[str, Callable[[Call], JsonObject]]) -> Route:
    """Returns a route that serves JSON. ``handlers`` are by method; they may block, as each call
    has a thread.

    Below the paths of Google's APIs, a query parameter that isn't honoured is refused. Enums are
    answered by name, which all clients accept.
    """
    parameters = {verb: Parameters(verb, path) for verb in handlers} if GOOGLES.match(path) else {}

    async def endpoint(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        raw, accepted = b"", parameters.get(method)
        if accepted is not None:
            accepted.check(request.query_params.multi_items())
        if method in _WITH_BODY:
            raw = await read_body(request, MAX_JSON_BYTES)
            if raw:
                require_json(request)
        origin = str(request.base_url).rstrip("/")
        call = Call(
            _texts(request.path_params.items()),
            _texts(request.query_params.multi_items()),
            raw,
            origin,
            request.scope.get(OWN_URL) or origin,
            name_caller(request),
            partial(find_author, request.scope),
            _repeats(request.query_params),
            _bound(request.url.path) if accepted is not None else (),
        )
        answer = await in_thread(handlers[method], call)
        return JSONResponse(answer if accepted is None else accepted.select(answer, call.query))

    return Route(path, endpoint, methods=list(handlers))


def _bound(path: str) -> tuple[str, ...]:
    """Returns the resource, and its parent, if the path ends with a custom method."""
    resource, _, verb = path.removeprefix("/").partition("/")[2].rpartition(":")
    return () if "/" in verb else tuple(filter(None, (resource, resource.rpartition("/")[0])))


def _repeats(given: QueryParams) -> Mapping[str, tuple[str, ...]]:
    lists = {name: tuple(given.getlist(name)) for name in given}
    return {name: values for name, values in lists.items() if len(values) > 1}


def _texts(given: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Returns the parameters; the last value of a repeated name counts. Raises InvalidArgument."""
    found: dict[str, str] = {}
    for name, text in given:
        if "\x00" in text:
            raise InvalidArgument.of((Violation(name, "the character U+0000 is not allowed"),))
        found[name] = text
    return found
