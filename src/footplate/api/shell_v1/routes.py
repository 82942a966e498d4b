"""Connects users with replicas: ``/shell/v1/TOKEN`` and ``/replica/v1/shells/ID``.

A user's WebSocket waits until the replica, which was told of the control request, has come with its
own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address
from shlex import quote

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from footplate.api.replica_v1 import given_token
from footplate.api.worker_threads import in_thread
from footplate.control.shells import TIMEOUT_S, Shell, Shells
from footplate.control.tokens import Tokens
from footplate.domain.errors import InvalidArgument, ServiceError, Unavailable
from footplate.domain.jobs import Job
from footplate.domain.names import CustomJobName, JobUid
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

Watch = Callable[[JobUid, Callable[[], None]], Callable[[], None]]


# Relays bytes between a user and a shell, with flow control in both directions.
#
# A message is sent on before the next one is read, and the web server reads no further than that:
# a slow side slows down the other one, and nothing piles up here. Nor does input pile up on the
# way to a shell that doesn't read it, where a goodbye would come to lie behind it.

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


def command_line(job: Job, replica: str) -> str:
    """Returns the ``footplate`` command that opens a shell."""
    if isinstance(job.name, CustomJobName):
        words = ["footplate", "ai", "custom-jobs", "ssh", str(job.name)]
    else:
        words = ["footplate", "ai-platform", "jobs", "ssh", str(job.name)]
    return " ".join(quote(word) for word in [*words, f"--replica={replica}"])


OPENING_S = 10.0
"""How long a user may take to say what to open."""
_NORMAL, _NO_CODE, _INTERNAL = 1000, 1005, 1011
_MOST_REASON_BYTES = 120
_PRIVATE = {"cache-control": "no-store", "referrer-policy": "no-referrer", "vary": "Accept"}


def shell_routes(shells: Shells, tokens: Tokens, watch: Watch) -> list[BaseRoute]:
    """Returns the routes of shells.

    ``tokens`` are those of replicas. ``watch`` calls a function after each change of a job, and
    returns a function that ends the watch.
    """
    api = _ShellApi(shells, tokens, watch)
    return [
        Route("/shell/v1/{token}", api.page, methods=["GET"]),
        WebSocketRoute("/shell/v1/{token}", api.user),
        WebSocketRoute("/replica/v1/shells/{id}", api.replica),
    ]


class _Meeting:
    """A user's wait for the WebSocket that a replica opens; None if it closed at once."""

    def __init__(self) -> None:
        self.replica: asyncio.Future[WebSocket | None]
        self.replica = asyncio.get_running_loop().create_future()
        self.over = asyncio.Event()


class _ShellApi:
    def __init__(self, shells: Shells, tokens: Tokens, watch: Watch) -> None:
        self._shells = shells
        self._tokens = tokens
        self._watch = watch
        self._meetings: dict[str, _Meeting] = {}

    def page(self, request: HTTPConnection) -> Response:
        """Returns facts about the shell's replica; redirects browsers to the terminal."""
        token = request.path_params["token"]
        job, replica = self._shells.find(token)
        if "text/html" in request.headers.get("accept", ""):
            return RedirectResponse(f"/terminal/{token}", HTTPStatus.SEE_OTHER, headers=_PRIVATE)
        found = {
            "job": str(job.name),
            "state": job.state.value,
            "replica": replica,
            "command": command_line(job, replica),
        }
        return JSONResponse(found, headers=_PRIVATE)

    async def user(self, websocket: WebSocket) -> None:
        token = websocket.path_params["token"]
        await in_thread(self._shells.find, token)  # refused while that can be said in HTTP
        await websocket.accept()
        try:
            opening = await asyncio.wait_for(_hear_opening(websocket), OPENING_S)
            end = await self._open(websocket, token, opening)
        except ServiceError as error:
            end = End.failed(error.message)
        except TimeoutError:
            end = End.failed(f"the client sent no request for a shell within {OPENING_S:g} s")
        except WebSocketDisconnect:
            return
        await _say_last(websocket, end)

    async def replica(self, websocket: WebSocket) -> None:
        bearer = self._tokens.check(given_token(websocket))
        shell_id = websocket.path_params["id"]
        self._shells.arrive(shell_id, bearer)
        # Someone waits for it; he may be about to say so here.
        meeting = self._meetings.setdefault(shell_id, _Meeting())
        try:
            await websocket.accept()
        except (OSError, RuntimeError):  # the replica is gone
            meeting.replica.set_result(None)
            return
        meeting.replica.set_result(websocket)
        await meeting.over.wait()
        with suppress(WebSocketDisconnect, RuntimeError):  # it has closed by itself
            await websocket.close()

    async def _open(self, user: WebSocket, token: str, opening: Opening) -> End:
        """Opens a shell and relays it; returns how it ended. Raises ServiceError."""
        what = "a terminal" if opening.command is None else "one command"
        shell = await in_thread(self._shells.ask, token, _address(user), what)
        meeting = self._meetings.setdefault(shell.control_request.id, _Meeting())
        how = "the server was stopped"
        try:
            end = await self._meet(shell, meeting, user, opening)
            how = end.how
        finally:
            came = meeting.replica.done() and meeting.replica.result() is not None
            await in_thread(self._shells.end, shell, how if came else "")
            del self._meetings[shell.control_request.id]
            meeting.over.set()
        return end

    async def _meet(
        self, shell: Shell, meeting: _Meeting, user: WebSocket, opening: Opening
    ) -> End:
        answered = asyncio.wrap_future(shell.control_request.answered)
        await asyncio.wait([answered], timeout=TIMEOUT_S)
        if not answered.done():
            return End.failed(f"replica {shell.replica} opened no shell within {TIMEOUT_S:g} s")
        if answered.result().error:
            return End.failed(answered.result().error)
        replica = await meeting.replica
        if replica is None:
            return End.failed(LOST)
        await in_thread(self._shells.begin, shell)
        with suppress(WebSocketDisconnect):  # which the relay will find
            await replica.send_text(encode_message(opening))
        return await relay(user, replica, partial(self._over, shell))

    async def _over(self, shell: Shell) -> str:
        """Waits until the shell must end; returns the reason."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the server has stopped meanwhile
                loop.call_soon_threadsafe(changed.set)

        unwatch = self._watch(shell.uid, wake)
        try:
            while True:
                # Before the job is read: a change during the read ends the wait below at once.
                changed.clear()
                with suppress(
                    Unavailable
                ):  # the database is not reachable: the state is unknown, so continue
                    if reason := await in_thread(self._shells.over_because, shell):
                        return reason
                await changed.wait()
        finally:
            unwatch()


def _address(user: WebSocket) -> str:
    """Returns the peer's address, or "somewhere". Headers of a proxy aren't used, as they could
    hold anything.
    """
    host = user.client.host if user.client else ""
    try:
        return str(ip_address(host.partition("%")[0]))
    except ValueError:
        return "somewhere"


async def _hear_opening(user: WebSocket) -> Opening:
    """Reads the user's first message. Raises InvalidArgument, WebSocketDisconnect."""
    message = await user.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code") or _NO_CODE)
    request = decode_request(message.get("text") or "{}")
    if not isinstance(request, Opening):
        raise InvalidArgument('the first message must be text such as {"open": {}}')
    return request


async def _say_last(user: WebSocket, end: End) -> None:
    good = isinstance(end.message, Exit)
    reason = "" if good else end.how.encode()[:_MOST_REASON_BYTES].decode(errors="ignore")
    with suppress(WebSocketDisconnect, RuntimeError):  # he has left
        await user.send_text(encode_message(end.message))
        await user.close(_NORMAL if good else _INTERNAL, reason)
