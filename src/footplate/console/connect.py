"""The page on how to use this server, and the root, which leads to the jobs."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from footplate.console.site import Site, Visit


def connect_routes(site: Site) -> list[Route]:
    return [site.page("/", _root), site.page("/connect", _connect)]


async def _root(_visit: Visit) -> Response:
    return RedirectResponse("/jobs", HTTPStatus.SEE_OTHER)


async def _connect(visit: Visit) -> Response:
    return visit.render("connect.html", url=server_url(visit))


def server_url(visit: Visit) -> str:
    """Returns the server's URL as the reader reaches it."""
    return str(visit.request.base_url).rstrip("/")
