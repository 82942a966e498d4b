"""The tests' own engines: each runs a Python, and leaves nothing on the machine."""

import os
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest

from tests.support.engines import (
    PrivateEngine,
    make_python_image,
    private_dockerd,
    private_podman,
    private_registry,
)
from tests.support.engines.requirements import require_engine, require_registry

Engine = Callable[[Path], AbstractContextManager[PrivateEngine]]
ENGINES = {"podman": private_podman, "docker": private_dockerd}


@pytest.mark.parametrize("kind", ENGINES)
def test_python_runs_in_an_image_of_this_machines_files(kind: str, tmp_path: Path) -> None:
    require_engine(kind)
    with ENGINES[kind](tmp_path / "engine") as engine:
        program = "import os, ssl, sqlite3, json; print(os.getuid(), json.dumps([1]))"
        script = f"python3 -c '{program}' && pip --version && touch /tmp/it && echo $HOME"
        output = _run(engine, ["sh", "-c", script])
    lines = output.splitlines()
    assert lines[0] == "1000 [1]"
    assert lines[1].startswith("pip ")
    assert lines[2] == "/home/trainer"


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("killed", [False, True])
def test_nothing_is_left_of_an_engine(kind: str, killed: bool, tmp_path: Path) -> None:  # noqa: FBT001  parametrized
    require_engine(kind)
    directory = tmp_path / "engine"
    duration = str(10**6 + secrets.randbelow(10**6))

    def fail(engine: PrivateEngine) -> None:
        _start(engine, ["sleep", duration])
        assert str(directory) in Path("/proc/self/mountinfo").read_text()
        assert len(_processes(duration, str(engine.socket))) >= 2
        if killed:
            engine.kill()
        raise EOFError(engine.socket.parent)

    with pytest.raises(EOFError) as failure, ENGINES[kind](directory) as engine:
        fail(engine)
    sockets = failure.value.args[0]
    assert not directory.exists()
    assert not sockets.exists()
    assert str(directory) not in Path("/proc/self/mountinfo").read_text()
    assert not _processes(duration, str(sockets), str(directory))


def test_a_registry_with_passwords_answers_those_who_know_one(tmp_path: Path) -> None:
    require_registry()
    with private_registry(tmp_path / "registry", {"ada": "s3cret"}) as registry:
        url = f"http://{registry.host}/v2/"
        assert httpx.get(url).status_code == 401
        assert httpx.get(url, auth=("ada", "guess")).status_code == 401
        assert httpx.get(url, auth=("ada", "s3cret")).status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)
    assert not (tmp_path / "registry").exists()


def test_a_registry_without_passwords_answers_all(tmp_path: Path) -> None:
    require_registry()
    with private_registry(tmp_path / "registry") as registry:
        assert httpx.get(f"http://{registry.host}/v2/").status_code == 200


def _start(engine: PrivateEngine, command: list[str]) -> str:
    make_python_image(engine.socket, "python-for-tests:dev")
    with engine.client() as client:
        config = client.create_host_config(network_mode="host")
        made = client.create_container(
            "python-for-tests:dev", command, user="trainer", host_config=config
        )
        client.start(made["Id"])
        return str(made["Id"])


def _run(engine: PrivateEngine, command: list[str]) -> str:
    container = _start(engine, command)
    with engine.client() as client:
        ended = client.wait(container)
        output = client.logs(container).decode()
        assert ended["StatusCode"] == 0, output
    return output


def _processes(*texts: str) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                line = (folder / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            found += [line for text in texts if text in line]
    return found
