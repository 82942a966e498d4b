"""Connects users with replicas: ``/shell/v1/TOKEN`` and ``/replica/v1/shells/ID``.

A user's WebSocket waits until the replica, which was told of the control request, has come with its
own.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address
from shlex import quote
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from footplate.api.replica_v1 import given_token
from footplate.api.shell_v1.relay import LOST, End, relay
from footplate.api.worker_threads import in_thread
from footplate.control.shells import TIMEOUT_S
from footplate.domain.errors import InvalidArgument, ServiceError, Unavailable
from footplate.domain.names import CustomJobName
from footplate.wire.shell_v1 import Exit, Opening, decode_request, encode_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import HTTPConnection
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.websockets import WebSocket

    from footplate.control.shells import Shell, Shells
    from footplate.control.tokens import Tokens
    from footplate.domain.jobs import Job
    from footplate.domain.names import JobUid

    Watch = Callable[[JobUid, Callable[[], None]], Callable[[], None]]


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
