"""The replica API: supervisors fetch tasks and send reports, with tokens of their own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from anyio import CapacityLimiter, to_thread
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from footplate.api.client_disconnect import leaves
from footplate.api.request_bodies import drop_body, read_body
from footplate.api.worker_threads import in_thread, make_event
from footplate.control.bucket_copies import CopySteps, Step
from footplate.control.control_requests import ControlRequests
from footplate.control.images import Images
from footplate.control.node_places import NodePlaces
from footplate.control.replica_reports import Reports
from footplate.control.replica_tasks import Tasks
from footplate.control.tokens import Bearer, Tokens
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.domain.names import JobUid, parse_attempt_id
from footplate.protocol.bucket_copies import CopyPlan, PlannedBucket
from footplate.protocol.control_requests import ControlRequest, PendingRequests
from footplate.protocol.reports import Acknowledgement, PinnedImage
from footplate.wire.control_requests import MAX_ANSWER_BYTES, decode_control_response
from footplate.wire.json_text import JsonObject
from footplate.wire.replica_v1 import decode_image, decode_reports

HOLD_S = 35.0
"""How long a question stands before it is answered that there is nothing."""


def control_request_routes(
    control_requests: ControlRequests, bearer: Callable[[Request], Bearer]
) -> list[Route]:
    """Returns the routes of control requests.

    ``bearer`` returns the attempt and the replica of a request.
    """
    api = _ControlRequestApi(control_requests, bearer)
    return [
        Route("/replica/v1/control-requests", api.ask, methods=["GET"]),
        Route("/replica/v1/control-requests/{id}", api.answer, methods=["POST"]),
    ]


class _ControlRequestApi:
    def __init__(
        self, control_requests: ControlRequests, bearer: Callable[[Request], Bearer]
    ) -> None:
        self._control_requests = control_requests
        self._bearer = bearer

    async def ask(self, request: Request) -> Response:
        asked, after = self._bearer(request), request.query_params.get("after", "")
        changed, wake = make_event()
        # The wait is registered before the pending requests are read. A request that arrives in
        # between sets `changed`, and the wait below ends at once. If the read came first, such a
        # request would be in neither: not found, and nobody woken, so that it waits for the end of
        # `HOLD_S`. The second read below takes what has arrived meanwhile, also after a timeout.
        release = self._control_requests.hold(asked, wake)
        try:
            found, cursor = self._control_requests.pending(asked, after)
            if not found and release is not None:
                await _either(changed, request, HOLD_S)
                found, cursor = self._control_requests.pending(asked, after)
        finally:
            if release is not None:
                release()
        requests = tuple(ControlRequest(each.id, each.kind.value) for each in found)
        return JSONResponse(PendingRequests(requests, cursor).encode())

    async def answer(self, request: Request) -> Response:
        asked, control_request_id = self._bearer(request), request.path_params["id"]
        try:
            self._control_requests.find(
                control_request_id, asked
            )  # else an unneeded body would be buffered and read
        except NotFound:
            await drop_body(request, MAX_ANSWER_BYTES)
            raise
        body = await read_body(request, MAX_ANSWER_BYTES)
        answer = await in_thread(decode_control_response, body)
        self._control_requests.answer(control_request_id, asked, answer)
        return JSONResponse({})


async def _either(changed: asyncio.Event, request: Request, timeout_s: float) -> None:
    """Waits until ``changed`` is set, the client disconnects, or the time is over."""
    tasks = [asyncio.create_task(changed.wait()), asyncio.create_task(leaves(request.receive))]
    try:
        await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


MAX_REPORT_BYTES = 8 << 20
"""More than any supervisor sends at once."""
_CHUNK_BYTES = 1 << 20
ENDED = "ended"
"""The query of a report that comes again, of a program that is dead."""
_INDEX = re.compile(r"[0-9]{1,9}")
_SECONDS = re.compile(r"[0-9]{1,4}")
Watch = Callable[[JobUid, Callable[[], None]], Callable[[], None]]


def replica_routes(
    tasks: Tasks,
    reports: Reports,
    tokens: Tokens,
    control_requests: ControlRequests,
    images: Images,
    copies: CopySteps,
    storage: Callable[[Bearer], str] = lambda _: "",
    watch: Watch = lambda _uid, _ready: lambda: None,
) -> list[Route]:
    """Returns the routes that supervisors use.

    ``storage`` returns the path of a program's storage API, which contains its key. ``watch`` calls
    a function once all replicas of a job are ready, and returns another one that ends this.
    """
    api = _ReplicaApi(tasks, reports, tokens, images, watch)
    copying = _CopyApi(copies, api._bearer, storage)
    return [
        Route("/replica/v1/bucket-copies", copying.plan, methods=["GET"]),
        Route("/replica/v1/bucket-copies/{step}", copying.take, methods=["POST"]),
        Route("/replica/v1/task", api.task, methods=["GET"]),
        Route("/replica/v1/start", api.start, methods=["GET"]),
        Route("/replica/v1/packages/{index}", api.package, methods=["GET"]),
        Route("/replica/v1/locks/{sha256}", api.lock, methods=["GET"]),
        Route("/replica/v1/reports", api.report, methods=["POST"]),
        Route("/replica/v1/images", api.image, methods=["POST"]),
        *control_request_routes(control_requests, api._bearer),
    ]


MAX_COPYING = 8
"""How many replicas' copies are worked on at once."""


class _CopyApi:
    def __init__(
        self,
        copies: CopySteps,
        bearer: Callable[[Request], Bearer],
        storage: Callable[[Bearer], str],
    ) -> None:
        self._copies = copies
        self._bearer = bearer
        self._storage = storage
        self._limiter = CapacityLimiter(MAX_COPYING)

    async def plan(self, request: Request) -> Response:
        """Returns the buckets that a node copies by itself, and where it finds them."""
        bearer = self._bearer(request)
        plan = await in_thread(self._copies.plan, bearer)
        buckets = tuple(
            PlannedBucket(bucket.name, bucket.read_only, tuple(prefixes))
            for bucket, prefixes in plan
        )
        return JSONResponse(CopyPlan(self._storage(bearer), buckets).encode())

    async def take(self, request: Request) -> Response:
        """Runs a step of a copy for some seconds. Clients repeat the request until it is done."""
        bearer = self._bearer(request)
        await drop_body(request, MAX_ANSWER_BYTES)
        try:
            step = Step(request.path_params["step"])
        except ValueError:
            raise NotFound(
                f"copies of buckets have no step {request.path_params['step'][:20]!r}"
            ) from None
        result = await to_thread.run_sync(self._copies.take, bearer, step, limiter=self._limiter)
        return JSONResponse(result.encode())


class _ReplicaApi:
    def __init__(
        self, tasks: Tasks, reports: Reports, tokens: Tokens, images: Images, watch: Watch
    ) -> None:
        self._images = images
        self._watch = watch
        self._tasks = tasks
        self._reports = reports
        self._tokens = tokens

    async def task(self, request: Request) -> Response:
        bearer, node = self._bearer(request), _places(request)
        return JSONResponse(await in_thread(self._encoded_task, bearer, node))

    def _encoded_task(self, bearer: Bearer, node: NodePlaces) -> JsonObject:
        return self._tasks.task(bearer, node).encode()

    async def start(self, request: Request) -> Response:
        """Answers once all replicas of the job are ready, or when the caller wants to know."""
        bearer, node, hold_s = self._bearer(request), _places(request), _hold_s(request)
        ready, wake = make_event()
        # Before the job is read, or the last replica could become ready in between.
        release = self._watch(parse_attempt_id(bearer.attempt_id)[0], wake)
        try:
            start = await in_thread(self._tasks.start, bearer, node)
            if start.awaited and hold_s:
                await _either(ready, request, hold_s)
                if ready.is_set():
                    start = await in_thread(self._tasks.start, bearer, node)
        finally:
            release()
        return JSONResponse(start.encode())

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
        """Pins a container's image: the first replica to report one decides, and others get it."""
        bearer = self._bearer(request)
        name, reference = decode_image(await read_body(request, MAX_REPORT_BYTES))
        pinned, first = await in_thread(self._images.pin, bearer, name, reference)
        return JSONResponse(PinnedImage(pinned, first).encode())

    def _accept(self, bearer: Bearer, body: bytes, *, ended: bool) -> Response:
        receipt = self._reports.accept(bearer, decode_reports(body), ended=ended)
        return JSONResponse(Acknowledgement(receipt.acknowledged, receipt.stop).encode())

    def _bearer(self, request: Request) -> Bearer:
        return self._tokens.check(given_token(request))


def given_token(connection: HTTPConnection) -> str:
    """Returns the caller's token. Raises PermissionDenied if there is none."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise PermissionDenied("the replica API requires `Authorization: Bearer TOKEN`")
    return token.strip()


def _places(request: Request) -> NodePlaces:
    """Returns the places on its node that a supervisor reports, for its own program only."""
    query = request.query_params
    return NodePlaces(query.get("url", ""), query.get("files", ""), gcs="gcs" in query)


def _hold_s(request: Request) -> float:
    """Returns for how long a supervisor waits for an answer; 0 if it doesn't say it."""
    text = request.query_params.get("hold", "")
    return min(HOLD_S, int(text)) if _SECONDS.fullmatch(text) else 0.0


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
