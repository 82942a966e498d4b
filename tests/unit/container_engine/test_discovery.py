"""Which engine is found: by the setting, by DOCKER_HOST, or where engines usually listen."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from footplate.container_engine.discovery import (
    CACHE_TTL_S,
    MISSING,
    REMEDY,
    EngineFinder,
    FoundEngine,
    candidates,
    choose,
    find_engine,
    probe,
)

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
        f"DOCKER_HOST is {host}: an engine of another machine can't run jobs, because "
        "programs need this machine's files. Name a socket of this machine, such as "
        "unix:///var/run/docker.sock"
    )


def test_a_setting_that_is_no_path_is_named() -> None:
    assert chosen({}, "docker.sock")[1] == (
        "the setting container_engine is 'docker.sock'; allowed: the absolute path of a socket, or "
        "unix:// and it"
    )


def test_none_means_that_there_is_none() -> None:
    path, problem = chosen(answering("/run/podman/podman.sock"), "none")
    assert path is None
    assert problem == "container_engine is none; set it to a socket's path"


def test_without_an_engine_the_sentence_says_what_to_install() -> None:
    assert chosen({})[1] == f"the server found no container engine on this machine; {REMEDY}"
    silent = {"/var/run/docker.sock": "nothing listens there; start the engine"}
    assert chosen(silent)[1] == (
        "no container engine answers on this machine (/var/run/docker.sock: nothing listens there; "
        f"start the engine); {REMEDY}"
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
    assert probe(str(path)) == "nothing listens there; start the engine"
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
