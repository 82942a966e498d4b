"""The stream of changes that open pages follow."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from footplate.console.sessions import COOKIE
from footplate.console.site import Visit

if TYPE_CHECKING:
    from starlette.requests import Request

    from footplate.console.feed import Feed
    from footplate.console.site import Site

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
