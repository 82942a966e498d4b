"""The parts that all views share: templates, sessions, headers, and errors as pages."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from footplate.console.formatting import FILTERS, ICONS, KINDS
from footplate.console.hours import HOUR_FILTERS
from footplate.console.operations import Answer, call_operation
from footplate.console.sessions import COOKIE, Sessions
from footplate.console.static_files import StaticFiles
from footplate.domain.errors import NotFound, PermissionDenied, ServiceError
from footplate.wire.json_text import JsonObject

T = TypeVar("T")
LONGEST_SHARED_S = 1.0
"""An answer is shared for so long, though nothing has changed."""
MOST_SHARED = 200


@dataclass(frozen=True)
class _Shared:
    changes: object
    begun: float
    answer: asyncio.Future[Any]
    """Any: each key has a type of its own."""


class SharedAnswers:
    """Answers that readers share in one event loop; none is older than the change that its
    reader knows of.
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, _Shared] = {}

    async def get(self, key: Hashable, changes: object, read: Callable[[], Awaitable[T]]) -> T:
        """Returns the answer of ``read``, shared by calls with the same ``key`` and ``changes``.

        ``key`` stands for the question and the reader; ``changes`` differs after each change.
        Raises the error of ``read``, which isn't stored.
        """
        now = asyncio.get_running_loop().time()
        known = self._found.get(key)
        if known is None or not _holds(known, changes, now):
            self._forget(changes, now)
            known = _Shared(changes, now, asyncio.ensure_future(read()))
            known.answer.add_done_callback(_look_at)
            self._found[key] = known
        answer: T = await asyncio.shield(known.answer)
        return answer

    def _forget(self, changes: object, now: float) -> None:
        kept = {key: each for key, each in self._found.items() if _holds(each, changes, now)}
        self._found = kept if len(kept) < MOST_SHARED else {}


def _holds(known: _Shared, changes: object, now: float) -> bool:
    failed = known.answer.done() and (
        known.answer.cancelled() or known.answer.exception() is not None
    )
    return known.changes == changes and now - known.begun <= LONGEST_SHARED_S and not failed


def _look_at(answer: asyncio.Future[Any]) -> None:
    """Retrieves an error that nobody may have waited for; asyncio would log it otherwise."""
    if not answer.cancelled():
        answer.exception()


_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": "Accept, Accept-Encoding, Cookie, HX-Request",
}
_COMPRESSED_FROM = 1000
_PAGE = "100"
"""Items of lists that are asked for at once."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Visit:
    """One request of a page, with the methods by which views make their answers.

    ``token`` is the reader's, if the server has one.
    """

    site: Site
    request: Request
    token: str | None

    @property
    def is_fragment(self) -> bool:
        """Returns whether htmx requests a part of a page."""
        return self.request.headers.get("hx-request") == "true"

    def parameter(self, name: str) -> str:
        return self.request.query_params.get(name, "").replace("\0", "")

    async def get(
        self, path: str, query: Mapping[str, str | Sequence[str]] | None = None
    ) -> JsonObject:
        """Returns the answer of an operation of the service. Raises its ServiceError.

        A parameter with several values is repeated in the URL.
        """
        return (await self.call("GET", path, query)).document()

    async def post(self, path: str, body: JsonObject | None = None) -> JsonObject:
        return (await self.call("POST", path, {}, body or {})).document()

    async def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | Sequence[str]] | None = None,
        body: JsonObject | None = None,
    ) -> Answer:
        app = self.site.app()
        return await call_operation(app, self.request, self.token, method, path, query or {}, body)

    async def share(self, read: Callable[[], Awaitable[T]]) -> T:
        """Returns the result of ``read`` for this URL and reader, shared by tabs until jobs change.

        The number of changes is requested with each reader's own token, so that unauthorized
        readers are refused.
        """
        changes = (await self.get("/footplate/v1/changes"))["changes"]
        given = self.request.query_params.multi_items()
        asked = tuple(sorted(pair for pair in given if pair[0] != "seen"))
        host = self.request.headers.get("host")
        key = (self.request.url.path, asked, self.is_fragment, self.token, host)
        return await self.site.shared.get(key, changes, read)

    async def read_all(
        self, path: str, key: str, query: Mapping[str, str] | None = None, *, most: int = 1000
    ) -> list[Any]:
        """Returns the items of all pages, about ``most``; none if the parent doesn't exist."""
        found: list[Any] = []
        asked = {"pageSize": _PAGE, **(query or {})}
        try:
            while len(found) < most:
                answer: Any = await self.get(path, asked)
                found += answer.get(key, [])
                if not answer.get("nextPageToken"):
                    break
                asked["pageToken"] = str(answer["nextPageToken"])
        except NotFound:
            return found
        return found

    async def find_projects(self) -> list[str]:
        """Returns the projects that have jobs."""
        answer: Any = await self.get("/footplate/v1/collections")
        return sorted({str(name).split("/")[1] for name in answer["collections"]})

    def render(self, template: str, status: int = 200, **context: Any) -> Response:
        return self.site.render(self, template, status, **context)

    def render_text(self, template: str, **context: Any) -> str:
        return self.site.render_text(self, template, **context)

    def respond(self, text: str, status: int = 200) -> Response:
        return self.site.compress(self.request, HTMLResponse(text, status, _HEADERS))


class Site:
    """The console's pages. ``app`` returns the service's application with the operations."""

    def __init__(
        self,
        app: Callable[[], ASGIApp],
        sessions: Sessions,
        files: StaticFiles,
        version: str,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self.app = app
        self.sessions = sessions
        self.version = version
        self.shared = SharedAnswers()
        self._files = files
        self._now = now
        self._templates = Environment(
            loader=PackageLoader("footplate.console", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(FILTERS)
        self._templates.filters.update(HOUR_FILTERS)
        self._templates.globals.update(
            static=files.url, icons=ICONS, kinds=KINDS, version=version, entries=ENTRIES
        )

    def page(
        self,
        path: str,
        handle: Callable[[Visit], Awaitable[Response]],
        methods: Sequence[str] = ("GET",),
        *,
        signed_in: bool = True,
    ) -> Route:
        """Returns a route to ``handle``, for signed-in readers or, with ``signed_in=False``, for
        all.

        Callers that don't accept HTML get 404, as for an unknown path.
        """

        async def endpoint(request: Request) -> Response:
            token = self.sessions.token_of(request.cookies.get(COOKIE))
            visit = Visit(self, request, token)
            accepted = request.headers.get("accept", "")
            if not (visit.is_fragment or "text/html" in accepted):
                raise HTTPException(HTTPStatus.NOT_FOUND, headers={"Vary": "Accept"})
            if signed_in and self.sessions.needed and token is None:
                return self.to_sign_in(visit)
            try:
                self._check_origin(visit)
                return await handle(visit)
            except ServiceError as error:
                return self.show_error(visit, error)

        return Route(path, endpoint, methods=list(methods))

    def render(self, visit: Visit, template: str, status: int = 200, **context: Any) -> Response:
        return visit.respond(self.render_text(visit, template, **context), status)

    def render_text(self, visit: Visit, template: str, **context: Any) -> str:
        return self._templates.get_template(template).render(
            now=self._now(),
            missing=self._files.missing(),
            here=visit.request.url.path,
            signed_in=visit.token is not None,
            guarded=self.sessions.needed,
            is_fragment=visit.is_fragment,
            **context,
        )

    def compress(self, request: Request, response: Response) -> Response:
        body = bytes(response.body)
        if len(body) >= _COMPRESSED_FROM and "gzip" in request.headers.get("accept-encoding", ""):
            response.body = gzip.compress(body, compresslevel=5, mtime=0)
            response.headers["Content-Encoding"] = "gzip"
            response.headers["Content-Length"] = str(len(response.body))
        return response

    def show_error(self, visit: Visit, error: ServiceError) -> Response:
        status = int(error.http_status)
        if visit.is_fragment:
            return PlainTextResponse(error.message, status, _HEADERS)
        return self.render(visit, "error.html", status, message=error.message, code=status)

    def to_sign_in(self, visit: Visit, path: str = "") -> Response:
        """Redirects to the sign-in page; then to ``path``, or back to the requested page."""
        if visit.is_fragment:
            here = urlsplit(visit.request.headers.get("hx-current-url", ""))
            there = _sign_in_url(here.path, here.query)
            return Response(status_code=HTTPStatus.UNAUTHORIZED, headers={"HX-Redirect": there})
        url = visit.request.url
        there = _sign_in_url(path, "") if path else _sign_in_url(url.path, url.query)
        return RedirectResponse(there, HTTPStatus.SEE_OTHER)

    def _check_origin(self, visit: Visit) -> None:
        """Checks that a form comes from this server's pages.

        Other sites' pages can send forms, but with their own ``Origin`` and without further
        headers. The server has already refused foreign origins. A form of ours, which works without
        scripts, sends this origin.
        """
        request = visit.request
        if request.method in ("GET", "HEAD"):
            return
        site = request.headers.get("sec-fetch-site", "same-origin")
        if site not in ("same-origin", "none"):
            raise PermissionDenied("only pages of this server may change something on the server")
        origin = urlsplit(request.headers.get("origin", "")).netloc
        is_own = visit.is_fragment or (origin and origin == request.headers.get("host"))
        if request.url.path != "/sign-in" and not is_own:
            raise PermissionDenied(
                "the request has neither the header HX-Request nor this server's Origin: use the "
                "pages of the console"
            )


def _sign_in_url(path: str, query: str) -> str:
    there = f"{path}?{query}" if query else path
    return f"/sign-in?next={quote(there)}" if there not in ("", "/") else "/sign-in"


@dataclass(frozen=True)
class Entry:
    title: str
    url: str
    others: tuple[str, ...] = ()
    """Pages elsewhere that belong to it, too."""

    def has(self, path: str) -> bool:
        """Returns whether a page belongs to this entry: at one of its addresses or below."""
        return any(path == url or path.startswith(f"{url}/") for url in (self.url, *self.others))


ENTRIES = (
    Entry("Jobs", "/jobs", ("/searches",)),
    Entry("Submit", "/submit"),
    Entry("Experiments", "/experiments", ("/models",)),
    Entry("Buckets", "/buckets"),
    Entry("Capacity", "/capacity"),
    Entry("System", "/system"),
    Entry("Connect", "/connect"),
)
