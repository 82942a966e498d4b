"""Pulls in a process, against real engines and a real registry."""

import fcntl
import hashlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.deadlines import EVENT_S
from tests.support.engines import (
    PrivateEngine,
    PrivateRegistry,
    private_dockerd,
    private_podman,
    private_registry,
    push_image,
)
from tests.support.engines.requirements import require_engine, require_registry

LOGIN = ("ada", "s3cret")
ENGINES = ("podman", "docker")
MB = 10**6
PULL = """
import os, sys
from footplate.containers.images import ImageFailure, pull
from footplate.containers.pull_progress import Reporter

try:
    pull(*sys.argv[1:4], os.environ, *map(float, sys.argv[4:]))
except ImageFailure as error:
    Reporter().fail(str(error))
"""


class Rig:
    """Both engines, a registry that is open, and one that wants a password."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.folder = folder
        self.open: PrivateRegistry = stack.enter_context(private_registry(folder / "open"))
        passwords = dict([LOGIN])
        self.closed = stack.enter_context(private_registry(folder / "closed", passwords))
        podman = stack.enter_context(private_podman(folder / "podman"))
        docker = stack.enter_context(private_dockerd(folder / "docker"))
        self.engines: dict[str, PrivateEngine] = {"podman": podman, "docker": docker}

    def command(self, kind: str | Path, image: str, *options: str) -> tuple[str, ...]:
        socket = self.engines[kind].socket if isinstance(kind, str) else kind
        where = (str(socket), image, str(self.folder / "locks"))
        return (sys.executable, "-c", PULL, *where, *options)

    def pull(
        self, kind: str | Path, image: str, *options: str, **environ: str
    ) -> tuple[int, list[dict[str, str]]]:
        """The exit status and the lines; without credentials unless ``environ`` names some."""
        environment = {**os.environ, "DOCKER_CONFIG": str(self.folder / "nobody"), **environ}
        environment.pop("DOCKER_HOST", None)
        done = subprocess.run(
            self.command(kind, image, *options),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.stderr == ""
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    def error(self, kind: str | Path, image: str, *options: str, **environ: str) -> str:
        code, lines = self.pull(kind, image, *options, **environ)
        assert code == 1
        assert all(set(line) == {"m"} for line in lines[:-1])
        return lines[-1]["error"]

    def has(self, kind: str, image: str) -> bool:
        with self.engines[kind].client() as client:
            return bool(client.images(name=image))


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    for kind in ENGINES:
        require_engine(kind)
    require_registry()
    with ExitStack() as stack:
        yield Rig(stack, tmp_path_factory.mktemp("pull"))


@pytest.mark.parametrize("kind", ENGINES)
def test_an_image_of_a_plain_registry_of_this_machine_is_pulled(rig: Rig, kind: str) -> None:
    image = push_image(rig.open, f"team/{kind}", [MB, 2 * MB])
    code, lines = rig.pull(kind, image)
    assert code == 0, lines
    assert lines[0] == {"m": f"pulls {image}"}
    assert rig.has(kind, image)


def test_progress_of_a_layer_of_a_gigabyte_is_told_in_bytes(rig: Rig) -> None:
    image = push_image(rig.open, "team/large", [1000 * MB, MB])
    code, lines = rig.pull("docker", image)
    assert code == 0, lines
    told = [line["m"] for line in lines]
    assert len(set(told)) == len(told) <= 120
    megabytes = [
        int(text.split(" of 1001 MB")[0].split()[-1]) for text in told if "1001 MB" in text
    ]
    assert megabytes == sorted(megabytes)
    assert len([number for number in megabytes if 0 < number < 1000]) >= 1
    assert any(text.startswith(f"pulls {image}: layer 2 of 2, ") for text in told)


def test_podman_tells_bytes_where_its_own_configuration_allows_plain_http(tmp_path: Path) -> None:
    require_engine("podman")
    require_registry()
    with ExitStack() as stack:
        registry = stack.enter_context(private_registry(tmp_path / "registry"))
        engine = private_podman(tmp_path / "podman", insecure_registries=["127.0.0.1"])
        socket = stack.enter_context(engine).socket
        image = push_image(registry, "team/large", [300 * MB])
        rig = object.__new__(Rig)
        rig.folder, rig.engines = tmp_path, {}
        code, lines = rig.pull(socket, image)
    assert code == 0, lines
    assert any(" MB" in line["m"] for line in lines), lines


@pytest.mark.parametrize("kind", ENGINES)
def test_credentials_come_from_auths_of_the_configuration(
    rig: Rig, kind: str, tmp_path: Path
) -> None:
    image = push_image(rig.closed, f"auths/{kind}", [MB], login=LOGIN)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"auths": {rig.closed.host: {"auth": "YWRhOnMzY3JldA=="}}}))
    code, lines = rig.pull(kind, image, DOCKER_CONFIG=str(tmp_path))
    assert code == 0, lines
    assert rig.has(kind, image)


@pytest.mark.parametrize("key", ["credHelpers", "credsStore"])
def test_credentials_come_from_helpers(rig: Rig, key: str, tmp_path: Path) -> None:
    image = push_image(rig.closed, f"helped/{key.lower()}", [MB], login=LOGIN)
    helper = tmp_path / "docker-credential-fake"
    helper.write_text(
        '#!/bin/sh\nread server\nprintf %s \'{"Username": "ada", "Secret": "s3cret"}\'\n'
    )
    helper.chmod(helper.stat().st_mode | stat.S_IXUSR)
    named = {rig.closed.host: "fake"} if key == "credHelpers" else "fake"
    (tmp_path / "config.json").write_text(json.dumps({key: named}))
    path = f"{tmp_path}:{os.environ['PATH']}"
    code, lines = rig.pull("podman", image, DOCKER_CONFIG=str(tmp_path), PATH=path)
    assert code == 0, lines


def test_a_helper_that_is_missing_is_named(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"credsStore": "nowhere"}))
    said = rig.error("docker", f"{rig.closed.host}/team/x:1", DOCKER_CONFIG=str(tmp_path))
    assert said.startswith(
        f"credentials for {rig.closed.host} can't be read from {tmp_path}/config.json: "
    )
    assert "docker-credential-nowhere" in said


@pytest.mark.parametrize("kind", ENGINES)
def test_who_may_not_pull_learns_where_to_log_in(rig: Rig, kind: str, tmp_path: Path) -> None:
    host = rig.closed.host
    image = push_image(rig.closed, "secret/model", [MB], login=LOGIN)
    assert rig.error(kind, image) == (
        f"{host} gives image secret/model:amd64 only to users who log in, and "
        f"{rig.folder}/nobody/config.json has no credentials for it; run docker login {host}"
    )
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"auths": {host: {"auth": "Ym9iOmd1ZXNz"}}}))
    assert rig.error(kind, image, DOCKER_CONFIG=str(tmp_path)) == (
        f"{host} does not let user bob ({config}) pull secret/model:amd64; "
        f"run docker login {host} as a user who may pull this image"
    )


@pytest.mark.parametrize("kind", ENGINES)
def test_a_missing_image_is_named(rig: Rig, kind: str) -> None:
    host = rig.open.host
    push_image(rig.open, "team/some", [MB])
    for name in ("team/some:other", "team/none:1", "team/some@sha256:" + "0" * 64):
        assert rig.error(kind, f"{host}/{name}") == (
            f"{host} has no image {name}; check the name, or push it first"
        )


@pytest.mark.parametrize("kind", ENGINES)
def test_an_image_that_is_not_for_this_machine_is_named(rig: Rig, kind: str) -> None:
    several = push_image(rig.open, f"list/{kind}", [MB], architecture="s390x", listed=True)
    assert rig.error(kind, several) == (
        f"{rig.open.host} has no image list/{kind}:s390x for this machine (linux/amd64); "
        "build the image for this machine, too"
    )


@pytest.mark.parametrize("kind", ENGINES)
def test_a_registry_that_is_not_there_is_named(rig: Rig, kind: str) -> None:
    assert rig.error(kind, "127.0.0.1:1/team/x:1") == (
        "the registry 127.0.0.1:1 can't be reached: connection refused"
    )
    said = rig.error(kind, "registry.invalid/team/x:1")
    assert said.startswith("the registry registry.invalid can't be reached: ")


class Silent:
    """A server that takes connections and never answers."""

    def __init__(self, listener: socket.socket) -> None:
        self.host = f"127.0.0.1:{listener.getsockname()[1]}"
        self.asked = threading.Event()
        self._listener = listener
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            self._connections.append(connection)
            if connection.recv(1) == b"q":
                return
            self.asked.set()

    def close(self) -> None:
        with socket.create_connection(self._listener.getsockname()) as last:
            last.sendall(b"q")
            self._thread.join()
        for connection in self._connections:
            connection.close()


@pytest.fixture
def silent() -> Iterator[Silent]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(50)
        server = Silent(listener)
        try:
            yield server
        finally:
            server.close()


@pytest.mark.parametrize("kind", ENGINES)
def test_a_silent_registry_fails_after_a_limit_and_is_told_before(
    rig: Rig, kind: str, silent: Silent
) -> None:
    code, lines = rig.pull(kind, f"{silent.host}/team/x:1", "4")
    assert code == 1
    assert lines[1:] == [
        {"m": f"pulls {silent.host}/team/x:1; waits for {silent.host}, which sent nothing yet"},
        {"error": f"the pull of {silent.host}/team/x:1 failed: {silent.host} sent nothing for 4 s"},
    ]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_pull_ends_at_once_when_told_to(rig: Rig, silent: Silent, how: signal.Signals) -> None:
    process = subprocess.Popen(rig.command("docker", f"{silent.host}/x"), stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as output:
        assert output.readline()
        process.send_signal(how)
        assert process.wait(EVENT_S) == -how


@pytest.mark.parametrize("kind", ENGINES)
def test_an_engine_that_dies_is_told(rig: Rig, kind: str, silent: Silent) -> None:
    engine = rig.engines[kind]

    def kill() -> None:
        assert silent.asked.wait(60)
        engine.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        said = rig.error(kind, f"{silent.host}/team/x:1")
    finally:
        killer.join()
        engine.start()
    assert said == (
        f"the container engine at {engine.socket} has ended, or no longer answers; start it again"
    )


def test_an_engine_that_is_not_there_is_told(rig: Rig, tmp_path: Path) -> None:
    said = rig.error(tmp_path / "no.sock", "x")
    assert said == (
        f"the container engine at {tmp_path}/no.sock has ended, or no longer answers; "
        "start it again"
    )


def test_pulls_of_one_image_at_a_time_pull_once(rig: Rig) -> None:
    image = push_image(rig.open, "team/shared", [MB])
    (rig.folder / "locks").mkdir(exist_ok=True)
    name = hashlib.sha256(f"{os.uname().nodename} {image}".encode()).hexdigest()[:32]
    with (rig.folder / "locks" / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        processes = [
            subprocess.Popen(rig.command("docker", image), stdout=subprocess.PIPE, text=True)
            for _ in range(4)
        ]
        first = [process.stdout.readline() for process in processes if process.stdout]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert [json.loads(line) for line in first] == [
        {"m": f"waits for another job that pulls {image}"}
    ] * 4
    assert len([output for output in outputs if f'"pulls {image}' in output]) == 1


def test_a_full_disk_is_told(rig: Rig, tmp_path: Path) -> None:
    image = push_image(rig.open, "team/toolarge", [90 * MB])
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = ("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk))
    subprocess.run(mounted, check=True)
    try:
        with private_dockerd(disk / "engine") as engine:
            said = rig.error(engine.socket, image)
    finally:
        subprocess.run(("umount", "-l", str(disk)), check=True)
    assert said.startswith(f"the engine's disk has no space for {image}; ")


def test_what_is_no_reference_is_refused(rig: Rig) -> None:
    assert rig.error("docker", "a b") == "'a b' names no image: it has a space"
