"""A shell beside a real program, on every containment mode, with a server of the library
``websockets``.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from footplate.replica.program_user import USER_FILE
from tests.support.deadlines import EVENT_S
from tests.support.supervisor_process import Supervised, find_living, python_task, wait_until

if TYPE_CHECKING:
    from websockets.sync.server import ServerConnection

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="enters namespaces")

PROGRAM = """
import os, time
open("/tmp/mine", "w").close()
print(os.getcwd(), os.readlink("/proc/self/ns/pid"), os.readlink("/proc/self/ns/mnt"), flush=True)
time.sleep(600)
"""
WHERE = "pwd; readlink /proc/self/ns/pid /proc/self/ns/mnt; ls -d /tmp/mine; echo $OWN; env >&2"


class Server:
    """The part of the server that a shell's process talks to: one shell, in steps."""

    def __init__(self, directory: Path) -> None:
        self._arrived: queue.Queue[ServerConnection] = queue.Queue()
        self._done = threading.Event()
        self._server = serve(self._meet, "127.0.0.1", 0)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        port = self._server.socket.getsockname()[1]
        self.file = directory / "shell-server.json"
        self.file.write_text(json.dumps({"url": f"http://127.0.0.1:{port}"}))

    def open(self, **opening: Any) -> ServerConnection:
        """What has come, told what to open."""
        connection = self._arrived.get(timeout=EVENT_S)
        connection.send(json.dumps({"open": opening}))
        return connection

    def close(self) -> None:
        self._done.set()
        self._server.shutdown()

    def _meet(self, connection: ServerConnection) -> None:
        self._arrived.put(connection)
        self._done.wait(EVENT_S)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    yield made
    made.close()


@pytest.fixture
def background_task(
    server: Server, tmp_path: Path, archive: Path
) -> Iterator[Callable[[Supervised], None]]:
    """Starts a shell's process as supervisors do, with a home that leads to another server."""
    started: list[subprocess.Popen[bytes]] = []

    def start(replica: Supervised) -> None:
        command = make_command(replica, server, tmp_path / f"shell-{len(started)}", archive)
        started.append(subprocess.Popen(command, start_new_session=True))

    yield start
    for process in started:
        assert process.wait(EVENT_S) == 0


def make_command(replica: Supervised, server: Server, home: Path, archive: Path) -> list[str]:
    home.mkdir()
    for name in ("isolation.json", "program.json", USER_FILE):
        if (replica.home / name).exists():
            (home / name).write_bytes((replica.home / name).read_bytes())
    ticket = {"server_file": str(server.file), "token": "s3cret"}
    (home / "ticket.json").write_text(json.dumps(ticket))
    return [sys.executable, "-I", "-S", str(archive), "shell", str(home), "abc"]


def read(connection: ServerConnection) -> tuple[dict[str, str], dict[str, Any]]:
    """All that is said to the end, by stream, and the last message."""
    said, stream, last = {"stdout": "", "stderr": ""}, "stdout", {}
    try:
        while True:
            message = connection.recv(EVENT_S)
            if isinstance(message, bytes):
                said[stream] += message.decode()
            else:
                last = json.loads(message)
                stream = last.get("stream", stream)
    except ConnectionClosed:
        return said, last


@pytest.fixture
def replica(make_replica: Callable[..., Supervised], containment_mode: str) -> Supervised:
    """One whose program runs, on each containment mode."""
    return start_program(make_replica, isolation=containment_mode)


def start_program(make_replica: Callable[..., Supervised], **ticket: Any) -> Supervised:
    task = python_task(PROGRAM, web_access=True, environment=[["OWN", "value"]])
    made = make_replica(task, **ticket)
    made.api.start()
    made.run()
    made.api.wait_for(lambda: bool(made.api.lines()))
    return made


def test_a_command_runs_where_the_program_does(
    replica: Supervised, server: Server, background_task: Callable[[Supervised], None]
) -> None:
    background_task(replica)
    said, last = read(server.open(command=f"{WHERE}; exit 3"))

    assert last == {"exit": 3}
    (program,) = replica.api.lines()
    assert said["stdout"].split() == [*program.split(), "/tmp/mine", "value"]
    told = said["stderr"]
    assert "s3cret" not in told
    assert str(server.file) not in told
    variables = {line.partition("=")[0] for line in told.splitlines()}
    known = json.loads((replica.home / "program.json").read_text())["environment"]
    assert set(known) - variables == set()
    assert variables - set(known) <= {"PWD", "SHLVL", "_", "OLDPWD"}


def test_a_terminal_has_a_size_and_control_characters(
    replica: Supervised, server: Server, background_task: Callable[[Supervised], None]
) -> None:
    background_task(replica)
    connection = server.open(size=[97, 31], term="vt100")
    connection.send(b"PS1=; stty -echo; bind 'set enable-bracketed-paste off' 2>/dev/null\n")
    connection.send(b"sh -c 'stty size; echo $TERM; exec sleep 600'\n")
    seen = ""
    while "vt100\r\n" not in seen:
        message = connection.recv(EVENT_S)
        seen += message.decode() if isinstance(message, bytes) else ""
    connection.send(json.dumps({"resize": [120, 40]}))
    connection.send(b"\x03")
    connection.send(b"stty size; exit 9\n")
    said, last = read(connection)

    assert "31 97" in seen
    assert "40 120" in said["stdout"]
    assert last == {"exit": 9}


def test_what_a_command_does_not_read_is_not_sent_for_ever(
    replica: Supervised, server: Server, background_task: Callable[[Supervised], None]
) -> None:
    background_task(replica)
    connection = server.open(command="read -r line; echo $line; exec <&-; read -r x; echo $?")
    connection.send(b"first\n" + bytes(200_000))
    connection.send(json.dumps({"eof": True}))
    said, last = read(connection)

    assert said["stdout"] == "first\n1\n"
    assert last == {"exit": 0}


def test_a_shell_ends_with_its_program_whatever_it_ignores(
    replica: Supervised, server: Server, background_task: Callable[[Supervised], None]
) -> None:
    word = f"footplate-test-{uuid.uuid4().hex}"
    background_task(replica)
    connection = server.open(command=f"trap '' HUP TERM INT; echo in; : {word}; read -r forever")
    assert connection.recv(EVENT_S) == b"in\n"
    assert find_living(word)

    replica.api.stop_wanted = True
    replica.process.send_signal(15)
    assert replica.finish()["kind"] == "STOPPED"
    read(connection)
    wait_until(lambda: not find_living(word), "the shell's end")


def test_a_shell_ends_with_its_supervisor_whatever_it_ignores(
    replica: Supervised, server: Server, tmp_path: Path, archive: Path
) -> None:
    end_supervisor_of_shell(make_command(replica, server, tmp_path / "shell", archive), server)


@pytest.mark.skipif(os.geteuid() != 0, reason="is about what root starts")
def test_a_shell_of_another_user_ends_with_its_supervisor(
    make_replica: Callable[..., Supervised], server: Server, tmp_path: Path, archive: Path
) -> None:
    replica = start_program(
        make_replica, isolation="subreaper", program_users=[1879048192, 2147352575]
    )
    end_supervisor_of_shell(make_command(replica, server, tmp_path / "shell", archive), server)


def end_supervisor_of_shell(command: list[str], server: Server) -> None:
    word = f"footplate-test-{uuid.uuid4().hex}"
    parent = subprocess.Popen(["sh", "-c", '"$@" & wait', "sh", *command])
    waits = "mkfifo never; exec 3<>never; echo in; read -r forever <&3"
    connection = server.open(command=f"trap '' HUP TERM INT; : {word}; {waits}")
    assert connection.recv(EVENT_S) == b"in\n"

    parent.kill()
    parent.wait(EVENT_S)
    with pytest.raises(ConnectionClosed):
        connection.recv(EVENT_S)
    wait_until(lambda: not find_living(word), "the shell's end")


def test_without_web_access_there_is_no_shell(
    make_replica: Callable[..., Supervised],
    server: Server,
    background_task: Callable[[Supervised], None],
) -> None:
    replica = make_replica(python_task(PROGRAM))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: bool(replica.api.lines()))
    background_task(replica)
    _, last = read(server.open())
    assert "enableWebAccess" in last["error"]
    assert not (replica.home / "program.json").exists()


def test_where_no_program_runs_there_is_no_shell(
    make_replica: Callable[..., Supervised],
    server: Server,
    background_task: Callable[[Supervised], None],
) -> None:
    replica = make_replica(python_task("pass", web_access=True))
    replica.supervise()
    background_task(replica)
    _, last = read(server.open())
    assert "the replica's program isn't running" in last["error"]
