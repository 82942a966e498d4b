"""The GPUs that an engine is asked for: a recorded request, no container uses one."""

from __future__ import annotations

import json
import socket
import threading
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from footplate.replica.container.api import Engine
from footplate.replica.container.spec import compose
from footplate.replica.desk import Desk
from footplate.replica.home import Home

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.replica.courier import Courier


class RecordingEngine:
    """Answers one request at a Unix socket with 201, and keeps its body."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.head = ""
        self.body: dict[str, Any] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        self._thread = threading.Thread(target=self._answer)
        self._thread.start()

    def _answer(self) -> None:
        connection, _ = self._listener.accept()
        with connection, connection.makefile("rb") as received:
            self.head = received.readline().decode()
            fields = dict(line.split(b": ", 1) for line in iter(received.readline, b"\r\n"))
            self.body = json.loads(received.read(int(fields[b"Content-Length"])))
            connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")

    def close(self) -> None:
        self._thread.join()
        self._listener.close()


def create(folder: Path, engine: str, devices: list[str]) -> dict[str, Any]:
    """What an engine called ``engine`` is sent for a replica that holds ``devices``."""
    home = Home(str(folder))
    (folder / "metrics").mkdir()
    desk = Desk(home, {}, "mark", (), {}, monotonic)
    program = {"kind": "container", "image": "trainer:1"}
    task = {"program": program, "devices": devices, "environment": [["GIVEN", "1"]]}
    desk.courier = cast("Courier", SimpleNamespace(task=task))
    recorder = RecordingEngine(folder / "engine.sock")
    try:
        Engine(recorder.path).create(
            "footplate-1", compose(desk, {"reference": "trainer@sha256:0", "engine": engine}, None)
        )
    finally:
        recorder.close()
    assert recorder.head.startswith("POST /containers/create?name=footplate-1 ")
    return recorder.body


@pytest.mark.parametrize(
    ("engine", "request_"),
    [
        ("Docker 20.10.24", {"Driver": "", "DeviceIDs": ["1", "3"], "Capabilities": [["gpu"]]}),
        (
            "Podman 4.3.1",
            {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=1", "nvidia.com/gpu=3"]},
        ),
    ],
)
def test_a_replica_gets_its_own_gpus(engine: str, request_: object, tmp_path: Path) -> None:
    body = create(tmp_path, engine, ["1", "3"])
    assert body["HostConfig"]["DeviceRequests"] == [request_]
    assert not any(text.startswith(("CUDA_VISIBLE", "NVIDIA_VISIBLE")) for text in body["Env"])


@pytest.mark.parametrize("engine", ["Docker 20.10.24", "Podman 4.3.1"])
def test_a_replica_without_gpus_gets_none(engine: str, tmp_path: Path) -> None:
    body = create(tmp_path, engine, [])
    assert "DeviceRequests" not in body["HostConfig"]
    assert "NVIDIA_VISIBLE_DEVICES=void" in body["Env"]
