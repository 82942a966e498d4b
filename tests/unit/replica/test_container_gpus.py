"""The GPUs that an engine is asked for: a recorded request, no container uses one."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from footplate.containers import engine_api as libpod
from footplate.containers.engine_api import Engine
from footplate.protocol.task import ContainerTask
from footplate.replica.container.container_spec import compose
from tests.support.replica_context import make_context, make_task


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
    (folder / "metrics").mkdir()
    program, given = ContainerTask("trainer:1"), (("GIVEN", "1"),)
    context = make_context(folder, make_task(program, devices=tuple(devices), environment=given))
    recorder = RecordingEngine(folder / "engine.sock")
    try:
        Engine(recorder.path).create(
            "footplate-1",
            compose(context, {"reference": "trainer@sha256:0", "engine": engine}, None),
        )
    finally:
        recorder.close()
    own = "podman" in engine.lower() and devices
    path = "/v4.0.0/libpod/containers/create" if own else "/containers/create?name=footplate-1"
    assert recorder.head.startswith(f"POST {path} ")
    return recorder.body


def test_docker_gets_a_device_request(tmp_path: Path) -> None:
    body = create(tmp_path, "Docker 20.10.24", ["1", "3"])
    wanted = {"Driver": "", "DeviceIDs": ["1", "3"], "Capabilities": [["gpu"]]}
    assert body["HostConfig"]["DeviceRequests"] == [wanted]
    assert not any(text.startswith(("CUDA_VISIBLE", "NVIDIA_VISIBLE")) for text in body["Env"])


def test_podman_gets_the_same_container_in_its_own_words(tmp_path: Path) -> None:
    """Its Docker API ignores device requests."""
    (tmp_path / "docker").mkdir()
    (tmp_path / "podman").mkdir()
    docker = create(tmp_path / "docker", "Docker 20.10.24", ["1", "3"])
    podman = create(tmp_path / "podman", "Podman 4.3.1", ["1", "3"])

    assert podman["devices"] == [{"path": "nvidia.com/gpu=1"}, {"path": "nvidia.com/gpu=3"}]
    assert not {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"} & set(podman["env"])
    host = docker["HostConfig"]
    assert (podman["name"], podman["image"]) == ("footplate-1", docker["Image"])
    assert podman["env"]["GIVEN"] == "1"
    assert set(podman["env"]) == {entry.partition("=")[0] for entry in docker["Env"]}
    assert [m["destination"] for m in podman["mounts"]] == [m["Target"] for m in host["Mounts"]]
    assert podman["labels"].keys() == docker["Labels"].keys()
    assert podman["netns"] == {"nsmode": "host"}
    assert podman["shm_size"] == host["ShmSize"]
    assert podman["cap_drop"] == host["CapDrop"]
    assert podman["ipcns"] == {"nsmode": host["IpcMode"]} == {"nsmode": "private"}
    assert "r_limits" not in podman
    assert host["Ulimits"] == [{"Name": "core", "Soft": 0, "Hard": 0}]
    assert podman["oom_score_adj"] == host["OomScoreAdj"]
    assert podman["no_new_privileges"] is True
    assert podman["log_configuration"] == {"driver": "none"}
    assert not {"entrypoint", "command"} & podman.keys()


def test_podman_gets_the_limits_of_the_machine_too() -> None:
    body = libpod.translate(
        "footplate-1",
        {
            "Image": "trainer:1",
            "Entrypoint": ["python3"],
            "Cmd": ["task.py"],
            "Env": ["A=b=c"],
            "Labels": {},
            "HostConfig": {
                "Mounts": [{"Type": "bind", "Source": "/a", "Target": "/b", "ReadOnly": True}],
                "NetworkMode": "host",
                "LogConfig": {"Type": "none"},
                "ShmSize": 1,
                "CapDrop": [],
                "SecurityOpt": ["label=disable"],
                "OomScoreAdj": 500,
                "Memory": 1 << 30,
                "MemorySwap": 1 << 30,
                "NanoCpus": 2 * 10**9,
                "PidsLimit": 2048,
            },
        },
    )
    assert body["resource_limits"] == {
        "memory": {"limit": 1 << 30, "swap": 1 << 30},
        "cpu": {"quota": 200_000, "period": 100_000},
        "pids": {"limit": 2048},
    }
    assert (body["entrypoint"], body["command"]) == (["python3"], ["task.py"])
    assert body["env"] == {"A": "b=c"}
    assert (body["selinux_opts"], body["no_new_privileges"]) == (["disable"], False)
    [mount] = body["mounts"]
    assert mount["options"] == ["rbind", "ro"]


@pytest.mark.parametrize("engine", ["Docker 20.10.24", "Podman 4.3.1"])
def test_a_replica_without_gpus_gets_none(engine: str, tmp_path: Path) -> None:
    body = create(tmp_path, engine, [])
    assert "DeviceRequests" not in body["HostConfig"]
    assert "NVIDIA_VISIBLE_DEVICES=void" in body["Env"]
