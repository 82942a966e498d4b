"""All routes of the console: one module for each view, in the order of the menu."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from footplate.console.audit_view import audit_routes
from footplate.console.buckets_view import bucket_routes
from footplate.console.capacity_view import capacity_routes
from footplate.console.connect import connect_routes
from footplate.console.experiments_view import experiments_routes
from footplate.console.feed import Feed
from footplate.console.formatting import job_url
from footplate.console.forms import read_form
from footplate.console.job_choices import job_choice_routes
from footplate.console.job_list import job_list_routes
from footplate.console.job_view import job_routes
from footplate.console.models_view import models_routes
from footplate.console.search_view import search_routes
from footplate.console.sessions import COOKIE, LIFETIME_S, Sessions
from footplate.console.site import Site, Visit
from footplate.console.static_files import StaticFiles
from footplate.console.submit_view import submit_routes
from footplate.console.system_view import system_routes
from footplate.console.unknown_addresses import unknown_address_routes

GuardGuesses = Callable[[Scope, Callable[[], str | None]], Awaitable[str | None]]


# The sign-in page, of a server that has a token.

_MAX_FORM_BYTES = 16_384


def sign_in_routes(site: Site, guard: GuardGuesses) -> list[Route]:
    """Returns the routes to sign in and out.

    ``guard`` calls, for a request, a function that returns None if its token is wrong.
    """
    view = _SignIn(site, guard)
    return [
        site.page("/sign-in", view.answer, ("GET", "POST"), signed_in=False),
        site.page("/sign-out", view.leave, ("POST",), signed_in=False),
    ]


class _SignIn:
    def __init__(self, site: Site, guard: GuardGuesses) -> None:
        self._sessions = site.sessions
        self._guard = guard

    async def answer(self, visit: Visit) -> Response:
        there = _own_path(visit.parameter("next"))
        if not self._sessions.needed or visit.token is not None:
            return RedirectResponse(there, HTTPStatus.SEE_OTHER)
        if visit.request.method == "GET":
            return visit.render("sign_in.html", next=there, wrong=False)
        fields = await read_form(visit.request, _MAX_FORM_BYTES)
        given = fields.get("token", "").strip()
        cookie = await self._guard(visit.request.scope, lambda: self._sessions.open(given))
        if cookie is None:
            return visit.render("sign_in.html", HTTPStatus.FORBIDDEN, next=there, wrong=True)
        answer = RedirectResponse(there, HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            COOKIE,
            cookie,
            max_age=LIFETIME_S,
            path="/",
            secure=visit.request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    async def leave(self, _visit: Visit) -> Response:
        answer = RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER)
        answer.status_code, answer.headers["HX-Redirect"] = HTTPStatus.NO_CONTENT, "/sign-in"
        answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return answer


def _own_path(path: str) -> str:
    """Returns the path to continue at; '/' if it would lead to another server, as
    ``//evil.example``, ``/\\evil``.
    """
    safe = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if safe and path.isascii() else "/"


# The stream of changes that open pages follow.

KIND = "text/event-stream"


def changes_route(site: Site, feed: Feed) -> Route:
    async def follow(request: Request) -> Response:
        if KIND not in request.headers.get("accept", ""):
            raise HTTPException(HTTPStatus.NOT_FOUND, headers={"Vary": "Accept"})
        token = site.sessions.token_of(request.cookies.get(COOKIE))
        if site.sessions.needed and token is None:
            return Response(status_code=HTTPStatus.UNAUTHORIZED)
        await Visit(site, request, token).get("/footplate/v1/changes")  # whether they may
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(feed.events(), media_type=KIND, headers=headers)

    return Route("/console/changes", follow, methods=["GET"])


# A terminal in a replica: the page behind ``webAccessUris``.
#
# The address is enough to use it, as with the service's own operation: no session is needed.

_PRIVATE = {"Referrer-Policy": "no-referrer"}
"""The address is a key: no other site may learn it."""


def terminal_routes(site: Site) -> list[Route]:
    return [site.page("/terminal/{token}", _show, signed_in=False)]


async def _show(visit: Visit) -> Response:
    token = visit.request.path_params["token"]
    shell: Any = await visit.get(f"/shell/v1/{token}")
    response = visit.render(
        "terminal.html", shell=shell, token=token, job_page=job_url(str(shell["job"]))
    )
    response.headers.update(_PRIVATE)
    return response


@dataclass(frozen=True)
class ConsoleParts:
    """The console's dependencies. ``app`` returns the service's whole application.

    ``now`` returns seconds. ``guard_guesses`` protects the sign-in page.
    """

    app: Callable[[], ASGIApp]
    feed: Feed
    token: str | None
    version: str
    now: Callable[[], float]
    guard_guesses: GuardGuesses


def console_routes(parts: ConsoleParts) -> list[Route]:
    files = StaticFiles()
    site = Site(parts.app, Sessions(parts.token, parts.now), files, parts.version)
    return [
        files.route(),
        changes_route(site, parts.feed),
        *connect_routes(site),
        *sign_in_routes(site, parts.guard_guesses),
        *job_list_routes(site),
        *job_choice_routes(site),
        *job_routes(site),
        *search_routes(site),
        *submit_routes(site),
        *experiments_routes(site),
        *models_routes(site),
        *bucket_routes(site),
        *capacity_routes(site),
        *system_routes(site),
        *audit_routes(site),
        *terminal_routes(site),
        *unknown_address_routes(site),
    ]
