"""A request body that a worker thread reads while it arrives.

The handlers that take bytes are plain functions. Those that wait for their bytes run in threads
of their own number, so that slow senders keep no others from being answered, and never hold more
than a chunk.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial, wraps

import anyio
from anyio import from_thread, to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from footplate.api.caller_shares import Shares, find_caller, is_program
from footplate.api.storage_v1.batch import MAX_AT_ONCE
from footplate.api.storage_v1.responses import error_answer
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import DeadlineExceeded, InvalidArgument, ServiceError
from footplate.wire.json_text import JsonObject, parse_object

CHUNK_BYTES = 1 << 20
SMALL_BYTES = 64 << 10
"""What is read of a body before a thread takes it: senders who send next to nothing occupy none."""
MAX_JSON_BYTES = 1 << 20
MAX_RECEIVERS = 64
MAX_OF_CALLER = 32
MAX_OF_PROGRAM = 16
IDLE_S = 60.0
"""How long a sender may be silent."""
DRAINED_BYTES = 64 << 20
"""How much of a refused body is still read, so that its sender gets to see the answer."""
DRAINED_S = 10.0


class Body:
    """The body of a request, for ``Receiver``'s worker thread. It can be read only once."""

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self._begun = b""
        self.is_whole = False

    async def begin(self) -> None:
        """Reads the first ``SMALL_BYTES``, or all of a smaller body, before the thread begins.

        Raises ClientDisconnect or DeadlineExceeded if the bytes don't arrive.
        """
        self._begun = await self._gather(SMALL_BYTES)
        self.is_whole = len(self._begun) < SMALL_BYTES

    def chunks(self) -> Iterator[bytes]:
        """Yields chunks of about ``CHUNK_BYTES``. Raises ClientDisconnect if the end is missing."""
        if begun := self._begun:
            self._begun = b""
            yield begun
        while not self.is_whole and (chunk := from_thread.run(self._gather, CHUNK_BYTES)):
            yield chunk

    def json(self) -> JsonObject:
        """Returns the body's JSON object; {} for an empty body."""
        content = b""
        for chunk in self.chunks():
            content += chunk
            if len(content) > MAX_JSON_BYTES:
                raise InvalidArgument(f"the body is too long; allowed: {MAX_JSON_BYTES} bytes")
        return parse_object(content) if content.strip() else {}

    async def drain(self) -> None:
        """Reads and discards the rest of the body, up to limits of size and time."""
        left = DRAINED_BYTES
        with anyio.move_on_after(DRAINED_S):
            async for part in self._stream:
                left -= len(part)
                if left < 0:
                    return

    async def _gather(self, least: int) -> bytes:
        """Reads at least ``least`` bytes, or all that are left."""
        parts: list[bytes] = []
        size = 0
        while size < least:
            try:
                with anyio.fail_after(IDLE_S):
                    part = await anext(self._stream, None)
            except TimeoutError:
                raise DeadlineExceeded(f"the client sent nothing more for {IDLE_S:.0f} s") from None
            if part is None:
                break
            parts.append(part)
            size += len(part)
        return b"".join(parts)


class Receiver:
    """Runs handlers of uploads in threads, a limited number at once.

    ``batches`` is the limit for batches of requests.
    """

    def __init__(self) -> None:
        self.batches = Shares(MAX_AT_ONCE)
        self._limiter = anyio.CapacityLimiter(MAX_RECEIVERS)
        self._shares = Shares(MAX_RECEIVERS)

    def receiving(
        self, handler: Callable[[Request, Body], Response]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Returns an endpoint that runs ``handler`` in a thread and answers its errors."""

        @wraps(handler)
        async def receive(request: Request) -> Response:
            body = Body(request.stream())
            try:
                await body.begin()
                if body.is_whole:
                    return await in_thread(handler, request, body)
                caller = find_caller(request.scope)
                most = MAX_OF_PROGRAM if is_program(caller) else MAX_OF_CALLER
                async with self._shares.taken(caller, most):
                    work = partial(handler, request, body)
                    return await to_thread.run_sync(work, limiter=self._limiter)
            except ServiceError as error:
                with suppress(ClientDisconnect):
                    await body.drain()
                return error_answer(error)
            except ClientDisconnect:
                return Response(status_code=499)  # the client is gone

        return receive
