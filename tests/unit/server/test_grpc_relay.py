"""The gRPC server behind the ports, which the first connection starts."""

from __future__ import annotations

import asyncio
import errno
import os
from typing import Any

import pytest

from footplate.grpc_api.relayed_callers import RelayedCaller
from footplate.server import grpc_relay
from footplate.server.grpc_relay import GrpcRelay

CALLER = RelayedCaller(("127.0.0.1", 1), ("127.0.0.1", 2), None)


async def app(*_: Any) -> None:
    """No call is made here."""


@pytest.mark.parametrize("fault", [OSError(errno.EMFILE, os.strerror(errno.EMFILE)), RuntimeError])
def test_a_start_that_fails_is_tried_again_by_the_next_client(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    load, faults = grpc_relay._load, [fault]

    def fail_once() -> Any:
        if faults:
            raise faults.pop()
        return load()

    async def connect() -> None:
        relay = GrpcRelay("http://127.0.0.1:1")
        with pytest.raises(ConnectionRefusedError, match="doesn't serve gRPC"):
            await relay.connect(CALLER)
        relay.start(app, 10)
        clients = [relay.connect(CALLER) for _ in range(3)]
        refused = await asyncio.gather(*clients, return_exceptions=True)
        assert [type(each) for each in refused] == [ConnectionRefusedError] * 3
        connection = await relay.connect(CALLER)
        connection._writer.close()
        await relay.stop(0)

    monkeypatch.setattr(grpc_relay, "_load", fail_once)
    asyncio.run(connect())
