"""Whose word the server takes for where a request comes from."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from footplate.server.serving import ForwardedHeaders

HEADERS = [(b"x-forwarded-for", b"198.51.100.7"), (b"x-forwarded-proto", b"https")]


def forward(client: str, *proxies: str) -> dict[str, Any]:
    """What the app sees of a request from there."""
    seen: dict[str, Any] = {}

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.update(scope)

    async def receive() -> Message:
        return {}

    async def send(_message: Message) -> None:
        return

    scope = {"type": "http", "scheme": "http", "client": (client, 1), "headers": HEADERS}
    asyncio.run(ForwardedHeaders(app, proxies)(scope, receive, send))
    return seen


@pytest.mark.parametrize("client", ["127.0.0.1", "::1", "192.0.2.1"])
def test_nobody_but_a_proxy_says_who_calls(client: str) -> None:
    assert forward(client)["client"] == (client, 1)
    assert forward(client, "192.0.2.8/29")["client"] == (client, 1)


def test_a_proxy_says_who_calls() -> None:
    assert forward("127.0.0.1", "127.0.0.1/32")["client"][0] == "198.51.100.7"
    assert forward("192.0.2.1", "192.0.2.0/24")["client"][0] == "198.51.100.7"


def test_how_a_proxy_of_this_machine_is_called_is_believed() -> None:
    assert forward("127.0.0.1")["scheme"] == "https"
    assert forward("192.0.2.1")["scheme"] == "http"
