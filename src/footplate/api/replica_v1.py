"""The replica API: supervisors fetch tasks and send reports, with tokens of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route

from footplate.api.control_requests import control_request_routes
from footplate.api.request_bodies import read_body
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.wire.replica_v1 import (
    decode_image,
    decode_reports,
    encode_answer,
    encode_start,
    encode_task,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import HTTPConnection, Request
    from starlette.responses import Response

    from footplate.control.control_requests import ControlRequests
    from footplate.control.images import Images
    from footplate.control.replica_reports import Reports
    from footplate.control.replica_tasks import Tasks
    from footplate.control.tokens import Bearer, Tokens
    from footplate.wire.json_text import JsonObject

MAX_REPORT_BYTES = 8 << 20
"""More than any supervisor sends at once."""
_CHUNK_BYTES = 1 << 20
ENDED = "ended"
"""The query of a report that comes again, of a program that is dead."""
_INDEX = re.compile(r"[0-9]{1,9}")


def replica_routes(
    tasks: Tasks,
    reports: Reports,
    tokens: Tokens,
    control_requests: ControlRequests,
    images: Images,
) -> list[Route]:
    api = _ReplicaApi(tasks, reports, tokens, images)
    return [
        Route("/replica/v1/task", api.task, methods=["GET"]),
        Route("/replica/v1/start", api.start, methods=["GET"]),
        Route("/replica/v1/packages/{index}", api.package, methods=["GET"]),
        Route("/replica/v1/locks/{sha256}", api.lock, methods=["GET"]),
        Route("/replica/v1/reports", api.report, methods=["POST"]),
        Route("/replica/v1/images", api.image, methods=["POST"]),
        *control_request_routes(control_requests, api._bearer),
    ]


class _ReplicaApi:
    def __init__(self, tasks: Tasks, reports: Reports, tokens: Tokens, images: Images) -> None:
        self._images = images
        self._tasks = tasks
        self._reports = reports
        self._tokens = tokens

    async def task(self, request: Request) -> Response:
        return JSONResponse(await in_thread(self._encoded_task, self._bearer(request)))

    def _encoded_task(self, bearer: Bearer) -> JsonObject:
        return encode_task(self._tasks.task(bearer))

    async def start(self, request: Request) -> Response:
        start = await in_thread(self._tasks.start, self._bearer(request))
        return JSONResponse(encode_start(start))

    async def package(self, request: Request) -> Response:
        bearer = self._bearer(request)
        index = request.path_params["index"]
        if not _INDEX.fullmatch(index):
            raise NotFound(f"there is no package {index[:20]!r}")
        file = await in_thread(self._tasks.package, bearer, int(index))
        return StreamingResponse(_chunks(file), media_type="application/octet-stream")

    async def lock(self, request: Request) -> Response:
        self._bearer(request)
        return PlainTextResponse(await in_thread(self._tasks.lock, request.path_params["sha256"]))

    async def report(self, request: Request) -> Response:
        bearer = self._bearer(request)
        body = await read_body(request, MAX_REPORT_BYTES)
        ended = request.url.query == ENDED
        return await in_thread(self._accept, bearer, body, ended=ended)

    async def image(self, request: Request) -> Response:
        """The first replica that reports an image decides; all others receive that one."""
        bearer = self._bearer(request)
        name, reference = decode_image(await read_body(request, MAX_REPORT_BYTES))
        pinned, first = await in_thread(self._images.pin, bearer, name, reference)
        return JSONResponse({"reference": pinned, "first": first})

    def _accept(self, bearer: Bearer, body: bytes, *, ended: bool) -> Response:
        receipt = self._reports.accept(bearer, decode_reports(body), ended=ended)
        return JSONResponse(encode_answer(receipt.acknowledged, stop=receipt.stop))

    def _bearer(self, request: Request) -> Bearer:
        return self._tokens.check(given_token(request))


def given_token(connection: HTTPConnection) -> str:
    """The caller's token. Raises PermissionDenied if there is none."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise PermissionDenied("the replica API requires `Authorization: Bearer TOKEN`")
    return token.strip()


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
