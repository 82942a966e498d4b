"""How users and replicas meet, without a server: what one side sends is called what it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from footplate.api.app import create_app
from footplate.api.security import Access
from footplate.api.shell_v1 import shell_routes
from footplate.control.tokens import Tokens
from tests.unit.control.test_shells import MASTER, Counter

TOKENS = Tokens(b"k" * 32)


class Connection:
    """A WebSocket of somebody who calls; ``gone``: it breaks as soon as something is sent."""

    def __init__(self, path: str, *, client: str = "127.0.0.1", token: str = "") -> None:
        self.scope: dict[str, Any] = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())],
            "client": (client, 1),
        }
        self.gone = False
        self.said: asyncio.Queue[Message] = asyncio.Queue()
        self.heard: asyncio.Queue[Message] = asyncio.Queue()
        self.said.put_nowait({"type": "websocket.connect"})

    def say(self, value: object) -> None:
        self.said.put_nowait({"type": "websocket.receive", "text": json.dumps(value)})

    def leave(self) -> None:
        self.said.put_nowait({"type": "websocket.disconnect", "code": 1000})

    async def hear(self) -> Any:
        while (message := await self.heard.get())["type"] != "websocket.send":
            continue
        return json.loads(message["text"])

    async def send(self, message: Message) -> None:
        if self.gone:
            raise OSError
        self.heard.put_nowait(message)


class Rig:
    def __init__(self) -> None:
        self.context = Counter()
        routes = shell_routes(self.context.shells, TOKENS, lambda _uid, _wake: lambda: None)
        self.app: ASGIApp = create_app(routes, Access())

    @asynccontextmanager
    async def user(self, client: str = "127.0.0.1") -> AsyncIterator[Connection]:
        connection = Connection(f"/shell/v1/{self.context.token}", client=client)
        connection.say({"open": {}})
        serving = asyncio.create_task(self.serve(connection))
        yield connection
        connection.leave()
        await serving

    async def replica(self) -> Connection:
        """The one that was asked, on its way."""
        while not (asked := self.context.control_requests.pending(self.context.asked, "")[0]):
            await asyncio.sleep(0)
        token = TOKENS.issue(self.context.asked)
        return Connection(f"/replica/v1/shells/{asked[0].id}", token=token)

    async def serve(self, connection: Connection) -> None:
        await self.app(connection.scope, connection.said.get, connection.send)


def test_a_replica_that_is_gone_before_it_is_let_in_leaves_nobody_waiting() -> None:
    async def meet() -> None:
        rig = Rig()
        async with rig.user() as user:
            replica = await rig.replica()
            replica.gone = True
            await rig.serve(replica)
            assert await user.hear() == {"error": "the connection to the replica was lost"}
        assert rig.context.told() == []

    asyncio.run(asyncio.wait_for(meet(), 20))


@pytest.mark.parametrize(
    ("client", "told"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("fe80::1%\x1b[2J", "fe80::1"),
        ("6.6.6.6 is \x9b31m" + "A" * 9000, "somewhere"),
    ],
    ids=["address", "with a zone", "text"],
)
def test_an_event_tells_an_address_or_none(client: str, told: str) -> None:
    async def meet() -> None:
        rig = Rig()
        async with rig.user(client) as user:
            replica = await rig.replica()
            serving = asyncio.create_task(rig.serve(replica))
            assert "open" in await replica.hear()
            replica.say({"exit": 0})
            assert await user.hear() == {"exit": 0}
            await serving
        opened, closed = rig.context.told()
        assert opened == ("SHELL_OPENED", f"a terminal, from {told}", MASTER)
        assert closed == ("SHELL_CLOSED", f"a terminal, from {told}: exit code 0", MASTER)

    asyncio.run(asyncio.wait_for(meet(), 20))
