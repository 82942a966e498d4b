"""Routes of control requests: a long poll of each running replica for the next request.

A question that stands holds no thread: a thousand of them cost a thousand open connections.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse
from starlette.routing import Route

from footplate.api.client_disconnect import leaves
from footplate.api.request_bodies import drop_body, read_body
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import NotFound
from footplate.wire.control_requests import (
    MAX_ANSWER_BYTES,
    decode_control_response,
    encode_control_requests,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from footplate.control.control_requests import ControlRequests
    from footplate.control.tokens import Bearer

HOLD_S = 25.0
"""How long a question stands before it is answered that there is nothing."""


def control_request_routes(
    control_requests: ControlRequests, bearer: Callable[[Request], Bearer]
) -> list[Route]:
    """``bearer`` gives the attempt and the replica that a request speaks for."""
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
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the server has stopped meanwhile
                loop.call_soon_threadsafe(changed.set)

        release = self._control_requests.hold(asked, wake)
        try:
            found, cursor = self._control_requests.pending(asked, after)
            if not found and release is not None:
                await _either(changed, request)
                found, cursor = self._control_requests.pending(asked, after)
        finally:
            if release is not None:
                release()
        return JSONResponse(encode_control_requests([(w.id, w.kind.value) for w in found], cursor))

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


async def _either(changed: asyncio.Event, request: Request) -> None:
    """Until ``changed`` is set, the client disconnects, or the time is over."""
    tasks = [asyncio.create_task(changed.wait()), asyncio.create_task(leaves(request))]
    try:
        await asyncio.wait(tasks, timeout=HOLD_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
