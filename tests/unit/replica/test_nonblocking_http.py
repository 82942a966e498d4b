"""Exchanges whose server is away."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from footplate.replica.http_client import ServerUnavailable
from footplate.replica.nonblocking_http import NonblockingRequest


def test_a_request_without_a_server_is_over_at_once(tmp_path: Path) -> None:
    exchange = NonblockingRequest(str(tmp_path / "server.json"), "token")
    with pytest.raises(ServerUnavailable):
        exchange.begin("POST", "/replica/v1/reports", b"{}")
    assert not exchange.busy


def test_the_next_request_finds_the_server_that_came(tmp_path: Path) -> None:
    server_file = tmp_path / "server.json"
    exchange = NonblockingRequest(str(server_file), "token")
    with pytest.raises(ServerUnavailable):
        exchange.begin("GET", "/replica/v1/task", None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server_file.write_text(json.dumps({"url": f"http://127.0.0.1:{port}"}), encoding="utf-8")
        exchange.begin("GET", "/replica/v1/task", None)
        assert exchange.busy
        server.accept()[0].close()
        exchange.abort()


def test_a_request_notices_that_its_server_is_elsewhere_by_now(tmp_path: Path) -> None:
    server_file = tmp_path / "server.json"
    exchange = NonblockingRequest(str(server_file), "token")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server_file.write_text(json.dumps({"url": f"http://127.0.0.1:{port}"}))
        exchange.begin("GET", "/replica/v1/task", None)
        assert not exchange.moved()
        server_file.unlink()
        assert not exchange.moved()
        server_file.write_text(json.dumps({"url": f"http://127.0.0.1:{port + 1}"}))
        assert exchange.moved()
        exchange.abort()
        assert not exchange.moved()


def test_a_refused_connection_is_over_at_once_too(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    server_file = tmp_path / "server.json"
    server_file.write_text(json.dumps({"url": f"http://127.0.0.1:{port}"}), encoding="utf-8")
    exchange = NonblockingRequest(str(server_file), "token")
    with pytest.raises(ServerUnavailable):  # noqa: PT012 - a refusal may come at either call
        exchange.begin("GET", "/replica/v1/task", None)
        exchange.step()
    assert not exchange.busy
