"""The API of launchers on an engine's nodes, with tokens of their own."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from footplate.api.client_disconnect import leaves
from footplate.api.replica_v1 import HOLD_S, given_token
from footplate.api.request_bodies import read_body
from footplate.api.worker_threads import in_thread, make_event
from footplate.domain.launchers import LauncherReport
from footplate.ports.launchers import Launchers
from footplate.protocol.launcher import LauncherAnswer
from footplate.wire.launcher_v1 import MAX_REPORT_BYTES, decode_report


def launcher_routes(launchers: Launchers) -> list[Route]:
    api = _LauncherApi(launchers)
    return [
        Route("/replica/v1/launcher", api.report, methods=["POST"]),
        Route("/replica/v1/launcher/archives/{digest}", api.archive, methods=["GET"]),
    ]


class _LauncherApi:
    def __init__(self, launchers: Launchers) -> None:
        self._launchers = launchers

    async def report(self, request: Request) -> Response:
        """Takes a launcher's report; answers once there is something to do, or after a while."""
        token = given_token(request)
        body = await read_body(request, MAX_REPORT_BYTES)
        report, hold_s = decode_report(body)
        loop, (changed, wake) = asyncio.get_running_loop(), make_event()
        release = self._launchers.hold(token, wake)
        leaving = asyncio.create_task(leaves(request.receive))
        try:
            answer = await self._ask(token, report)
            end = loop.time() + min(hold_s, HOLD_S)
            while not answer.is_news and loop.time() < end:
                look_s = self._launchers.look_s(token)
                await _either(changed, leaving, min(look_s, max(0.0, end - loop.time())))
                # Whatever a launcher waits for wakes it. So at the end there is nothing, and to ask
                # again would double the work for those that have long been running.
                if leaving.done() or (loop.time() >= end and not changed.is_set()):
                    break
                changed.clear()
                answer = await self._ask(token, report)
        finally:
            leaving.cancel()
            release()
        return JSONResponse(answer.encode())

    async def _ask(self, token: str, report: LauncherReport) -> LauncherAnswer:
        return await in_thread(self._launchers.exchange, token, report)

    async def archive(self, request: Request) -> Response:
        token, digest = given_token(request), request.path_params["digest"]
        path = await in_thread(self._launchers.archive, token, digest)
        return FileResponse(path, media_type="application/octet-stream")


async def _either(changed: asyncio.Event, leaving: asyncio.Task[None], timeout_s: float) -> None:
    waiting = asyncio.create_task(changed.wait())
    try:
        await asyncio.wait(
            (waiting, leaving), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        waiting.cancel()
