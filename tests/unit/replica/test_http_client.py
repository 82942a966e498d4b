"""The connection of a supervisor against a server of scripted bytes."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from footplate.replica import http_client
from footplate.replica.http_client import Connection, Refused, ServerUnavailable

OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"


def ok(body: bytes) -> bytes:
    return OK % (len(body), body)


@contextmanager
def server(tmp_path: Path, *connections: list[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """Answers request by request what each connection's list says, then closes it."""
    requests: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answers in connections:
            accepted, _ = listener.accept()
            with accepted:
                for answer in answers:
                    requests.append(accepted.recv(65536))
                    accepted.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    file = tmp_path / "server.json"
    file.write_text(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}"}))
    try:
        yield str(file), requests
    finally:
        thread.join(5)
        listener.close()


def test_one_connection_serves_many_requests(tmp_path: Path) -> None:
    with server(tmp_path, [ok(b"a"), ok(b'{"b": 1}')]) as (file, requests):
        connection = Connection(file, "token")
        assert connection.get("/a") == b"a"
        assert connection.post("/b", {"x": 1}) == {"b": 1}
        connection.close()
    assert requests[0].startswith(b"GET /a HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"Authorization: Bearer token\r\n" in requests[1]
    assert requests[1].endswith(b'\r\n\r\n{"x": 1}')


def test_a_kept_connection_that_was_closed_meanwhile_is_opened_again(tmp_path: Path) -> None:
    with server(tmp_path, [ok(b"a")], [ok(b"b")]) as (file, _):
        connection = Connection(file, "token")
        assert [connection.get("/a"), connection.get("/b")] == [b"a", b"b"]
        connection.close()


def test_a_download_appears_only_whole(tmp_path: Path) -> None:
    half = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"
    target = tmp_path / "package"
    with server(tmp_path, [half], [ok(b"abcdef")]) as (file, _):
        connection = Connection(file, "token")
        with pytest.raises(ServerUnavailable):
            connection.download("/p", str(target))
        assert [path.name for path in tmp_path.iterdir()] == ["server.json"]
        connection.download("/p", str(target))
        connection.close()
    assert target.read_bytes() == b"abcdef"


def test_a_refusal_has_its_status_and_words(tmp_path: Path) -> None:
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nno such"
    with server(tmp_path, [answer, ok(b"")]) as (file, _):
        connection = Connection(file, "token")
        with pytest.raises(Refused, match="no such") as caught:
            connection.get("/p")
        assert connection.get("/q") == b""
        connection.close()
    assert caught.value.status == 404


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0-hello\r\n",
        b"",
        ok(b"[1]"),
        ok(b"{"),
    ],
)
def test_an_answer_without_sense_is_a_server_away(tmp_path: Path, answer: bytes) -> None:
    with server(tmp_path, [answer]) as (file, _):
        connection = Connection(file, "token")
        with pytest.raises(ServerUnavailable):
            connection.post("/p", {})
        connection.close()


def test_an_answer_without_end_is_a_server_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "BODY_LIMIT_BYTES", 4)
    with server(tmp_path, [ok(b"four")], [ok(b"more!")]) as (file, _):
        connection = Connection(file, "token")
        assert connection.get("/p") == b"four"
        connection.close()
        with pytest.raises(ServerUnavailable):
            connection.get("/p")


def test_a_server_that_hangs_is_away(tmp_path: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    file = tmp_path / "server.json"
    file.write_text(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}"}))
    connection = Connection(str(file), "token", timeout_s=0.05)
    with listener, pytest.raises(ServerUnavailable):
        connection.get("/p")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"url": 1}', '{"url": "ftp://a:1"}', '{"url": "http://a:b"}']
)
def test_a_server_file_without_sense_is_a_server_away(tmp_path: Path, content: str) -> None:
    file = tmp_path / "server.json"
    file.write_text(content)
    with pytest.raises(ServerUnavailable):
        Connection(str(file), "token").get("/p")


def test_no_server_file_is_a_server_away(tmp_path: Path) -> None:
    with pytest.raises(ServerUnavailable):
        Connection(str(tmp_path / "none"), "token").get("/p")
