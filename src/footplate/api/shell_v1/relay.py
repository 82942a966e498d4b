"""Relays bytes between a user and a shell, with flow control in both directions.

A message is sent on before the next one is read, and the web server reads no further than that:
a slow side slows down the other one, and nothing piles up here. Nor does input pile up on the
way to a shell that doesn't read it, where a goodbye would come to lie behind it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.websockets import WebSocketDisconnect

from footplate.domain.errors import InvalidArgument
from footplate.wire.shell_v1 import (
    WINDOW_BYTES,
    Exit,
    Failure,
    LifeSign,
    Opening,
    WindowUpdate,
    decode_answer,
    decode_request,
    encode_message,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Message
    from starlette.websockets import WebSocket

LIFE_SIGN_S = 10.0
"""How often a user is sent something, which shows whether he is there still."""
USER_LEFT = "the user closed the shell"
LOST = "the connection to the replica was lost"
_REASON_S = 2.0
_SERVER_STOPS = 1012
_STOPPING = "the server was stopped"


@dataclass(frozen=True)
class End:
    """The end of a shell. ``message`` is for the user, ``how`` for the job's events."""

    message: Exit | Failure
    how: str

    @classmethod
    def failed(cls, reason: str) -> End:
        return cls(Failure(reason), reason)


async def relay(user: WebSocket, replica: WebSocket, over: Callable[[], Awaitable[str]]) -> End:
    """Relays messages between a user and a replica's shell; returns how the shell ended.

    ``over`` returns when the shell must end, with the reason.
    """

    async def must_end() -> End:
        return End.failed(await over())

    window = Window(WINDOW_BYTES)
    # In the order in which they count, should several have something to say.
    parts = (
        _from_replica(user, replica, window),
        _from_user(user, replica, window),
        must_end(),
        _live(user),
    )
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        end = next(task for task in tasks if task.done()).result()
        if end.message == Failure(LOST):  # perhaps since the program has ended
            return await _either(tasks[2], end)
        return end
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _either(reason: asyncio.Task[End], end: End) -> End:
    """Returns the reason for which the job ends, if it comes within a moment, else ``end``.

    A replica reports its program's end a moment after its shell has ended.
    """
    done, _ = await asyncio.wait([reason], timeout=_REASON_S)
    return reason.result() if done else end


class Window:
    """The number of bytes that may still be sent to a shell before it has read some of them."""

    def __init__(self, size_bytes: int) -> None:
        self._left_bytes = self._size_bytes = size_bytes
        self._opened = asyncio.Event()

    async def take(self, count: int) -> None:
        """Takes ``count`` bytes of the window; waits first if none is left."""
        while self._left_bytes <= 0:
            self._opened.clear()
            await self._opened.wait()
        self._left_bytes -= count

    def give(self, count: int) -> None:
        self._left_bytes = min(self._size_bytes, self._left_bytes + count)
        self._opened.set()


async def _from_user(user: WebSocket, replica: WebSocket, window: Window) -> End:
    while True:
        message = await user.receive()
        if message["type"] == "websocket.disconnect":
            return End.failed(_STOPPING if message.get("code") == _SERVER_STOPS else USER_LEFT)
        try:
            await _pass_on(message, replica, window)
        except InvalidArgument as error:
            return End.failed(error.message)
        except WebSocketDisconnect:
            return End.failed(LOST)


async def _pass_on(message: Message, replica: WebSocket, window: Window) -> None:
    """Sends a user's message on to the replica. Raises InvalidArgument, WebSocketDisconnect."""
    data = message.get("bytes")
    if data is not None:
        await window.take(len(data))
        await replica.send_bytes(data)
        return
    request = decode_request(message["text"])
    if isinstance(request, Opening):
        raise InvalidArgument(
            "this shell is open already; open another connection for a second shell"
        )
    await replica.send_text(encode_message(request))


async def _from_replica(user: WebSocket, replica: WebSocket, window: Window) -> End:
    while True:
        message = await replica.receive()
        if message["type"] == "websocket.disconnect":
            return End.failed(_STOPPING if message.get("code") == _SERVER_STOPS else LOST)
        try:
            data = message.get("bytes")
            if data is not None:
                await user.send_bytes(data)
                continue
            answer = decode_answer(message["text"])
            if isinstance(answer, WindowUpdate):
                window.give(answer.count)
                continue
            if isinstance(answer, Exit):
                return End(answer, f"exit code {answer.code}")
            if isinstance(answer, Failure):
                return End(answer, answer.message)
            await user.send_text(encode_message(answer))
        except InvalidArgument as error:
            return End.failed(
                f"the replica sent a message that isn't part of the shell protocol: {error.message}"
            )
        except WebSocketDisconnect:
            return End.failed(USER_LEFT)


async def _live(user: WebSocket) -> End:
    """Sends signs of life to a user; raises an error once the connection is lost."""
    while True:
        await asyncio.sleep(LIFE_SIGN_S)
        try:
            await user.send_text(encode_message(LifeSign()))
        except WebSocketDisconnect:
            return End.failed(USER_LEFT)
