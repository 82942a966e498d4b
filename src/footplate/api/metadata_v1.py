"""The metadata server of programs, at the address that contains a program's key."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from footplate.api.worker_threads import in_thread
from footplate.control.program_metadata import ProgramMetadata
from footplate.domain.errors import PermissionDenied, ServiceError
from footplate.domain.instance_metadata import as_json, as_text, made_for

METADATA = "/computeMetadata"
_VERSION = f"{METADATA}/v1"
_FLAVOR = {"Metadata-Flavor": "Google"}
"""By this header clients know the server, and the server knows that no web page asks."""
_TEXT = "application/text"
_TRUE = "true"


def metadata_routes(path: str, metadata: ProgramMetadata) -> list[Route]:
    """Returns the routes below ``PATH/KEY``; they must precede all other routes there."""
    server = MetadataServer(metadata)
    places = (f"{path}/{{key}}", f"{path}/{{key}}/")
    versions = (f"{path}/{{key}}{METADATA}", f"{path}/{{key}}{METADATA}/")
    return [
        *(Route(place, server.list_roots, methods=["GET"]) for place in places),
        *(Route(place, server.list_versions, methods=["GET"]) for place in versions),
        Route(f"{path}/{{key}}{_VERSION}", server.get, methods=["GET"]),
        Route(f"{path}/{{key}}{_VERSION}/{{path:path}}", server.get, methods=["GET"]),
    ]


class MetadataServer:
    """Serves Google's metadata API in its own formats; errors are plain-text sentences."""

    def __init__(self, metadata: ProgramMetadata) -> None:
        self._metadata = metadata

    async def list_roots(self, request: Request) -> Response:
        """Answers the request by which clients test whether there is a metadata server."""
        return await self._answer(request, f"{METADATA[1:]}/\n")

    async def list_versions(self, request: Request) -> Response:
        return await self._answer(request, "v1/\n")

    async def get(self, request: Request) -> Response:
        return await self._answer(request)

    async def _answer(self, request: Request, listing: str = "") -> Response:
        try:
            answer = await in_thread(self._read, request, listing)
        except ServiceError as error:
            answer = PlainTextResponse(f"{error.message}\n", error.http_status)
        answer.headers.update(_FLAVOR)
        return answer

    def _read(self, request: Request, listing: str) -> Response:
        """Returns the answer for a path. Raises ServiceError."""
        key, path = request.path_params["key"], request.path_params.get("path", "")
        query = request.query_params
        if listing:
            self._metadata.read(key, "")
            return Response(listing, media_type=_TEXT)
        if request.headers.get("metadata-flavor") != "Google":
            raise PermissionDenied("the header Metadata-Flavor: Google is missing")
        if "x-forwarded-for" in request.headers:
            raise PermissionDenied(
                "the metadata server refuses requests with the header X-Forwarded-For"
            )
        if made_for(path):
            made = self._metadata.make(key, path, query.get("audience", ""))
            is_text = isinstance(made, str)
            return Response(made, media_type=_TEXT) if is_text else JSONResponse(made)
        found = self._metadata.read(key, path)
        if query.get("recursive") == _TRUE or query.get("alt") == "json":
            return JSONResponse(as_json(found))
        return Response(as_text(found), media_type=_TEXT)
