"""An ASGI app behind a real HTTP server, on a thread."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import uvicorn

from footplate.server.listener import listen
from tests.support.deadlines import EVENT_S

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from starlette.types import ASGIApp

    from footplate.server.door import Door


class _Server(uvicorn.Server):
    """Says when it listens, and leaves the signals of the process alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        self.listening.set()


@contextmanager
def serve(
    app: ASGIApp,
    web_sockets: type[asyncio.Protocol] | Literal["none"] = "none",
    host: str = "127.0.0.1",
    requests: type[asyncio.Protocol] | Literal["auto"] = "auto",
    door: Door | None = None,
) -> Iterator[str]:
    """The URL of ``app`` on a free port of ``host``; ``door`` admits its connections."""
    config = uvicorn.Config(app, log_config=None, ws=web_sockets, http=requests)
    server = _Server(config)
    listener = listen(host, 0)
    port = listener.getsockname()[1]
    sockets = [listener if door is None else door.guard(listener)]
    thread = threading.Thread(target=server.run, args=(sockets,), name="http-server", daemon=True)
    thread.start()
    try:
        if not server.listening.wait(EVENT_S):
            raise TimeoutError("the HTTP server didn't start")
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join()
