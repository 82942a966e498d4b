"""An ASGI app behind a real HTTP server, on a thread."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import uvicorn

from tests.support.deadlines import EVENT_S

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from starlette.types import ASGIApp


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
) -> Iterator[str]:
    """The URL of ``app`` on a free port of ``host``."""
    config = uvicorn.Config(app, host=host, port=0, log_config=None, ws=web_sockets)
    server = _Server(config)
    thread = threading.Thread(target=server.run, name="http-server", daemon=True)
    thread.start()
    try:
        if not server.listening.wait(EVENT_S):
            raise TimeoutError("the HTTP server didn't start")
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join()
