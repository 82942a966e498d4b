"""The sign-in page, of a server that has a token."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse

from footplate.console.forms import read_form
from footplate.console.sessions import COOKIE, LIFETIME_S

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import Scope

    from footplate.console.site import Site, Visit

    GuardGuesses = Callable[[Scope, Callable[[], str | None]], Awaitable[str | None]]

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
