"""The replica API's wishes: a question of each running replica that stands until there is one.

A question that stands holds no thread: a thousand of them cost a thousand open connections.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse
from starlette.routing import Route

from footplate.api.bodies import drop_body, read_body
from footplate.api.leaving import leaves
from footplate.api.threads import in_thread
from footplate.domain.errors import NotFound
from footplate.wire.wishes import MAX_ANSWER_BYTES, decode_wish_answer, encode_wishes

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from footplate.control.tokens import Bearer
    from footplate.control.wishes import Wishes

HOLD_S = 25.0
"""How long a question stands before it is answered that there is nothing."""


def wish_routes(wishes: Wishes, bearer: Callable[[Request], Bearer]) -> list[Route]:
    """``bearer`` gives the attempt and the replica that a request speaks for."""
    api = _WishApi(wishes, bearer)
    return [
        Route("/replica/v1/wishes", api.ask, methods=["GET"]),
        Route("/replica/v1/wishes/{id}", api.answer, methods=["POST"]),
    ]


class _WishApi:
    def __init__(self, wishes: Wishes, bearer: Callable[[Request], Bearer]) -> None:
        self._wishes = wishes
        self._bearer = bearer

    async def ask(self, request: Request) -> Response:
        asked, after = self._bearer(request), request.query_params.get("after", "")
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the server has stopped meanwhile
                loop.call_soon_threadsafe(changed.set)

        release = self._wishes.hold(asked, wake)
        try:
            found, cursor = self._wishes.pending(asked, after)
            if not found and release is not None:
                await _either(changed, request)
                found, cursor = self._wishes.pending(asked, after)
        finally:
            if release is not None:
                release()
        return JSONResponse(encode_wishes([(w.id, w.kind.value) for w in found], cursor))

    async def answer(self, request: Request) -> Response:
        asked, wish_id = self._bearer(request), request.path_params["id"]
        try:
            self._wishes.find(wish_id, asked)  # else what nobody wants would be kept, and read
        except NotFound:
            await drop_body(request, MAX_ANSWER_BYTES)
            raise
        body = await read_body(request, MAX_ANSWER_BYTES)
        answer = await in_thread(decode_wish_answer, body)
        self._wishes.answer(wish_id, asked, answer)
        return JSONResponse({})


async def _either(changed: asyncio.Event, request: Request) -> None:
    """Until ``changed`` is set, or whoever asks is gone, or it has waited long enough."""
    tasks = [asyncio.create_task(changed.wait()), asyncio.create_task(leaves(request))]
    try:
        await asyncio.wait(tasks, timeout=HOLD_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
