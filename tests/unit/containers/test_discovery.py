"""Which engine is found: by the setting, by DOCKER_HOST, or where engines usually listen."""

import json
import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from footplate.containers.discovery import (
    MISSING,
    REMEDY,
    FoundEngine,
    NoEngine,
    candidates,
    choose,
    find_engine,
    find_on_node,
    probe,
    report,
)
from footplate.server.container_engine import CACHE_TTL_S, EngineFinder

USER = {"XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/home/ada"}


def answering(*paths: str) -> dict[str, str | None]:
    return dict.fromkeys(paths)


def chosen(
    sockets: Mapping[str, str | None], setting: str = "", uid: int = 7, **environ: str
) -> tuple[str | None, str]:
    return choose(
        candidates(setting, {**USER, **environ}, uid), lambda path: sockets.get(path, MISSING)
    )


def test_the_setting_comes_before_everything() -> None:
    sockets = answering("/a.sock", "/b.sock", "/run/podman/podman.sock")
    assert chosen(sockets, "/a.sock", DOCKER_HOST="unix:///b.sock") == ("/a.sock", "")
    assert chosen(sockets, "unix:///a.sock") == ("/a.sock", "")


def test_docker_host_comes_before_the_usual_sockets() -> None:
    sockets = answering("/b.sock", "/run/podman/podman.sock")
    assert chosen(sockets, DOCKER_HOST="unix:///b.sock") == ("/b.sock", "")


def test_a_user_has_rootless_engines_before_those_of_the_machine() -> None:
    rootless = "/run/user/7/podman/podman.sock"
    sockets = answering(rootless, "/run/podman/podman.sock", "/var/run/docker.sock")
    assert chosen(sockets)[0] == rootless
    assert chosen(sockets, uid=0)[0] == "/run/podman/podman.sock"
    assert chosen(answering("/home/ada/.docker/run/docker.sock"))[0]


def test_an_engine_that_was_named_has_no_substitute() -> None:
    path, problem = chosen(answering("/run/podman/podman.sock"), "/a.sock")
    assert path is None
    assert problem == (
        "no container engine answers at /a.sock (the setting container_engine): "
        "this socket does not exist"
    )


@pytest.mark.parametrize("host", ["tcp://10.0.0.1:2375", "ssh://ada@box"])
def test_engines_of_other_machines_are_refused(host: str) -> None:
    path, problem = chosen(answering("/run/podman/podman.sock"), DOCKER_HOST=host)
    assert path is None
    assert problem == (
        f"DOCKER_HOST is {host}: a container engine of another machine can't run jobs, because "
        "programs need this machine's files. Name a socket of this machine, such as "
        "unix:///var/run/docker.sock"
    )


def test_a_setting_that_is_no_path_is_named() -> None:
    assert chosen({}, "docker.sock")[1] == (
        "the setting container_engine is 'docker.sock'; allowed: a socket's absolute path, "
        "with or without unix://"
    )


def test_none_means_that_there_is_none() -> None:
    path, problem = chosen(answering("/run/podman/podman.sock"), "none")
    assert path is None
    assert problem == "the setting container_engine is none; set it to a socket's path"


def test_without_an_engine_the_sentence_says_what_to_install() -> None:
    assert chosen({})[1] == f"the server found no container engine on this machine; {REMEDY}"
    silent = {"/var/run/docker.sock": "nothing listens at this socket; start the container engine"}
    assert chosen(silent)[1] == (
        "no container engine answers on this machine (/var/run/docker.sock: nothing listens "
        f"at this socket; start the container engine); {REMEDY}"
    )


@contextmanager
def server(path: Path, answer: bytes) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1024)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield
        thread.join()


def test_a_probe_tells_an_engine_from_other_servers(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with server(path, b"HTTP/1.0 200 OK\r\n\r\nOK"):
        assert find_engine(str(path), {}) == FoundEngine(str(path))
    path.unlink()
    with server(path, b"HTTP/1.0 404 Not Found\r\n\r\n"):
        assert probe(str(path)) == "the server at this socket is not a container engine"
    assert probe(str(path)) == "nothing listens at this socket; start the container engine"
    assert probe(str(tmp_path / "nothing")) == MISSING
    assert probe("/" + "x" * 200) == "AF_UNIX path too long"


def test_an_engine_is_kept_for_seconds_and_a_missing_one_is_not() -> None:
    now = [0.0]
    answers = [FoundEngine(None, "none"), FoundEngine("/a"), FoundEngine("/b")]
    find = EngineFinder("", {}, lambda: now[0], lambda _setting, _environ: answers.pop(0))
    assert find().problem == "none"
    assert find().socket == "/a"
    now[0] += CACHE_TTL_S - 1
    assert find().socket == "/a"
    now[0] += 1
    assert find().socket == "/b"


UID = 1234
OK = b"HTTP/1.1 200 OK\r\nServer: Libpod/4.3.1 (linux)\r\n\r\n"


def test_on_a_node_the_socket_of_the_settings_counts_alone(tmp_path: Path) -> None:
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    (tmp_path / "podman").mkdir()
    missing = str(tmp_path / "named.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "podman" / "podman.sock"))
        with pytest.raises(NoEngine, match=f"{missing} is missing; start Podman's socket"):
            find_on_node(missing, environ, UID)


@pytest.mark.parametrize("environ", [{}, {"DOCKER_HOST": "tcp://10.0.0.1:2375"}])
def test_on_a_node_the_user_s_own_engine_is_taken(tmp_path: Path, environ: dict[str, str]) -> None:
    path = tmp_path / "podman" / "podman.sock"
    path.parent.mkdir()
    with server(path, OK):
        assert find_on_node("", {"XDG_RUNTIME_DIR": str(tmp_path), **environ}, UID) == str(path)


def test_on_a_node_docker_host_names_it(tmp_path: Path) -> None:
    with server(tmp_path / "s", OK):
        environ = {"DOCKER_HOST": f"unix://{tmp_path}/s"}
        assert find_on_node("", environ, UID) == f"{tmp_path}/s"


def test_an_engine_of_a_node_that_does_not_answer_may_come_back(tmp_path: Path) -> None:
    path = str(tmp_path / "engine.sock")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)
    assert find_on_node(path, {}, UID) == path


def test_what_a_node_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "no.sock")
    report(missing)
    found = json.loads(capsys.readouterr().out)
    assert found["socket"] == ""
    assert missing in found["fault"]


def test_a_kernel_without_namespaces_runs_no_images(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command, limit = tmp_path / "apptainer", tmp_path / "max_user_namespaces"
    command.write_text("#!/bin/sh\necho apptainer version 1.4.5\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr("footplate.containers.discovery._NAMESPACES", str(limit))
    faults = []
    for text in (None, "0", "1000"):
        if text is not None:
            limit.write_text(text)
        report("apptainer")
        faults.append(json.loads(capsys.readouterr().out)["fault"])
    said = f"the kernel gives users no namespaces: {limit} is"
    assert faults == [f"{said} missing", f"{said} 0", ""]
