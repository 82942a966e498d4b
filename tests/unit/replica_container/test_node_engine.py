"""Which container engine a replica on a node takes."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from footplate.replica.container.node_engine import NoEngine, find_fault, find_socket, report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UID = 1234
OK = b"HTTP/1.1 200 OK\r\nServer: Libpod/4.3.1 (linux)\r\n\r\n"


@contextmanager
def listening(path: Path, answer: bytes = OK) -> Iterator[str]:
    """An engine that answers one question."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def serve() -> None:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(1000)
            connection.sendall(answer)

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        yield str(path)
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_the_socket_of_the_settings_counts_alone(tmp_path: Path) -> None:
    with listening(tmp_path / "podman" / "podman.sock"):
        environment = {"XDG_RUNTIME_DIR": str(tmp_path)}
        missing = str(tmp_path / "named.sock")
        with pytest.raises(NoEngine, match=f"{missing} is missing; start Podman's socket"):
            find_socket(missing, environment, UID)


def test_without_one_the_user_s_own_engine_is_taken(tmp_path: Path) -> None:
    with listening(tmp_path / "podman" / "podman.sock") as path:
        assert find_socket("", {"XDG_RUNTIME_DIR": str(tmp_path)}, UID) == path


def test_docker_host_names_it(tmp_path: Path) -> None:
    with listening(tmp_path / "engine.sock") as path:
        assert find_socket("", {"DOCKER_HOST": f"unix://{path}"}, UID) == path


def test_an_engine_that_does_not_answer_may_come_back(tmp_path: Path) -> None:
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert find_socket(str(path), {}, UID) == str(path)
    assert find_fault(str(path)) == "Connection refused"


def test_something_else_that_listens_is_no_engine(tmp_path: Path) -> None:
    with listening(tmp_path / "x.sock", b"220 mail ready\r\n") as path:
        assert find_fault(path) == "the server at this socket is not a container engine"


def test_what_a_node_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "no.sock")
    report(missing)
    found = json.loads(capsys.readouterr().out)
    assert found["socket"] == ""
    assert missing in found["fault"]
