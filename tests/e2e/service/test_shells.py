"""Shells in running replicas, on the real thing, mostly through the command line."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import socket
import struct
import subprocess
import sys
import termios
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from footplate.client.error_mapping import ConnectionBroke
from footplate.client.shell import RemoteShell
from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing.service import FOOTPLATE, RunningService, running_service
from footplate.wire.shell_v1 import Exit, Failure, Opening
from tests.e2e.service.conftest import CACHE, Context
from tests.support.forked_process import ForkedProcess, finish, run_footplate
from tests.support.supervisor_process import find_living, wait_until

MASTER = "master-replica-0"
PROGRAM = """
import os, sys, time
open("/tmp/mine", "w").close()
print("here", os.getcwd(), flush=True)
while not os.path.exists(sys.argv[-1].replace("gs://", "/gcs/") + "/end"):
    time.sleep(0.05)
"""
"""Until someone puts ``end`` into its job directory."""
IN_TIME_S = 60.0
MUCH_BYTES = 200_000_000
LITTLE_KB = 40_000


class Sshing(Context):
    """A user with a job that runs, and wants web access."""

    def __init__(self, service: RunningService) -> None:
        super().__init__(service)
        self.name = self.start()

    def start(self) -> TrainingJobName:
        name = self.submit(PROGRAM, enableWebAccess=True)
        self.until(lambda: any(m.startswith("here") for m in self.messages(name)))
        self.until(lambda: bool(self.uris(name)))
        return name

    def uris(self, name: TrainingJobName) -> dict[str, str]:
        output = self.job(name).resource["trainingOutput"]
        assert isinstance(output, dict)
        uris = output.get("webAccessUris", {})
        assert isinstance(uris, dict)
        return {replica: str(uri) for replica, uri in uris.items()}

    def argv(self, *options: str) -> tuple[str, ...]:
        return (*FOOTPLATE, "ai-platform", "jobs", "ssh", self.name.job_id, *options)

    def ssh(self, *options: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        pipe = subprocess.PIPE
        process: ForkedProcess[bytes] = ForkedProcess(
            self.argv(*options),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=self.service.environment(),
        )
        return finish(process, stdin, IN_TIME_S)

    def shells(self) -> list[tuple[str, str]]:
        with self.client() as client:
            events = [e for e in client.events(self.name) if e.kind.startswith("SHELL_")]
        return [(event.kind, event.message) for event in events]


@pytest.fixture(scope="module")
def desk_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshing]:
    data = tmp_path_factory.mktemp("shells") / "data"
    with running_service(data, CACHE, stop_grace_s=1) as service:
        yield Sshing(service)


def test_a_command_runs_in_the_replica_and_ends_as_it_does(desk_of_all: Sshing) -> None:
    done = desk_of_all.ssh(
        "--command", "pwd; ls -d /tmp/mine; echo $CLOUD_ML_JOB_ID; echo no >&2; exit 3"
    )

    where = desk_of_all.messages(desk_of_all.name)[0].removeprefix("here ")
    assert done.stdout.decode().split() == [where, "/tmp/mine", desk_of_all.name.job_id]
    assert (done.stderr, done.returncode) == (b"no\n", 3)
    opened, closed = desk_of_all.shells()[-2:]
    assert opened == ("SHELL_OPENED", "one command, from 127.0.0.1")
    assert closed == ("SHELL_CLOSED", "one command, from 127.0.0.1: exit code 3")


def test_its_input_arrives_whole(desk_of_all: Sshing) -> None:
    blob = os.urandom(3_000_000)
    done = desk_of_all.ssh("--replica=master", "--command=cat", stdin=blob)
    assert (done.stdout == blob, done.returncode) == (True, 0)


def test_a_script_comes_through_a_pipe(desk_of_all: Sshing) -> None:
    done = desk_of_all.ssh(stdin=b"cd /tmp\nls -d mine\nexit 5\n")
    assert (done.stdout, done.returncode) == (b"mine\n", 5)


@contextmanager
def terminal(context: Sshing) -> Iterator[tuple[int, int]]:
    """``ssh`` in a terminal of 111 columns: its pid, and the terminal's other side."""
    pid, screen = pty.fork()
    if pid == 0:
        argv = context.argv()
        os.execve(argv[0], argv, {**context.service.environment(), "TERM": "xterm"})  # noqa: S606  no shell wanted
    try:
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 111, 0, 0))
        yield pid, screen
    finally:
        os.close(screen)


def read_until(screen: int, end: bytes) -> bytes:
    seen = b""
    while end not in seen:
        seen += os.read(screen, 65536)
    return seen


@pytest.mark.timeout(120)
def test_a_terminal_is_one_and_is_restored(desk_of_all: Sshing) -> None:
    with terminal(desk_of_all) as (pid, screen):
        before = termios.tcgetattr(screen)
        os.write(screen, b'echo open""ed\n')  # perhaps before anybody reads
        read_until(screen, b"opened")
        raw = termios.tcgetattr(screen)
        os.write(screen, b"sh -c 'stty size; echo rea\"\"dy; exec sleep 600'\n")
        seen = read_until(screen, b"ready")
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 99, 0, 0))
        os.write(screen, b"\x03")
        os.write(screen, b'until [ "$(stty size)" = \'40 99\' ]; do :; done; echo resi""zed\n')
        read_until(screen, b"resized")
        os.write(screen, b"exit 9\n")
        read_until(screen, b"exit")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
        after = termios.tcgetattr(screen)

    assert b"33 111" in seen
    assert raw[3] & termios.ICANON == 0
    assert after == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--replica=worker-0",), "there are master-replica-0"),
        (("--url=http://127.0.0.1:1",), "no Footplate server answers"),
    ],
)
def test_what_can_not_be_says_why(
    desk_of_all: Sshing, options: tuple[str, ...], message: str
) -> None:
    done = desk_of_all.ssh(*options, "--command=true")
    assert message in done.stderr.decode()
    assert done.returncode == 255


def test_a_job_that_does_not_want_it_says_how_to(desk_of_all: Sshing) -> None:
    other = desk_of_all.submit(PROGRAM)
    desk_of_all.wait_for(other, State.RUNNING)
    assert desk_of_all.uris(other) == {}
    environment = desk_of_all.service.environment()
    done = run_footplate("ai-platform", "jobs", "ssh", other.job_id, env=environment)
    assert done.returncode == 255
    assert "--enable-web-access" in done.stderr


def refused(
    uri: str, origin: Origin | None = None, connected: socket.socket | None = None
) -> tuple[int, dict[str, Any]]:
    """The status and the body of the answer to a WebSocket that isn't wanted."""
    address = uri.replace("http", "ws", 1)
    with (
        pytest.raises(InvalidStatus) as caught,
        connect(address, origin=origin, sock=connected, proxy=None),
    ):
        pass
    response = caught.value.response
    return response.status_code, json.loads(bytes(response.body or b""))


@pytest.mark.parametrize(
    ("header", "value"), [("Origin", "https://evil.example"), ("Host", "evil.example")]
)
def test_a_foreign_page_opens_none(desk_of_all: Sshing, header: str, value: str) -> None:
    uri = desk_of_all.uris(desk_of_all.name)[MASTER]
    page = httpx.get(uri, headers={header: value})
    assert page.status_code == 403

    origin = Origin(value) if header == "Origin" else None
    host, _, port = uri.split("/")[2].partition(":")
    address = uri.replace(host, value) if header == "Host" else uri
    with socket.create_connection((host, int(port))) as connected:
        status, refusal = refused(address, origin, connected)
    assert status == 403
    assert header.casefold() in refusal["error"]["message"].casefold()


def test_another_address_opens_none(desk_of_all: Sshing) -> None:
    uri = desk_of_all.uris(desk_of_all.name)[MASTER]
    wrong = uri[:-1] + ("0" if uri[-1] != "0" else "1")
    for address in (wrong, uri.replace(MASTER, "worker-replica-0")):
        assert httpx.get(address).status_code == 403
        assert refused(address)[0] == 403


def test_a_browser_is_led_to_a_terminal_and_a_program_is_told_the_command(
    desk_of_all: Sshing,
) -> None:
    uri = desk_of_all.uris(desk_of_all.name)[MASTER]
    told = httpx.get(uri)
    assert told.json() == {
        "job": str(desk_of_all.name),
        "state": "RUNNING",
        "replica": MASTER,
        "command": f"footplate ai-platform jobs ssh {desk_of_all.name} --replica={MASTER}",
    }
    led = httpx.get(uri, headers={"Accept": "text/html"})
    page = httpx.get(uri, headers={"Accept": "text/html"}, follow_redirects=True)
    assert led.headers["location"] == f"/terminal/{uri.rpartition('/')[2]}"
    assert f"Shell in {MASTER}" in page.text
    assert {answer.headers["referrer-policy"] for answer in (told, led, page)} == {"no-referrer"}


def test_the_first_word_must_say_what_to_open(desk_of_all: Sshing) -> None:
    address = desk_of_all.uris(desk_of_all.name)[MASTER].replace("http", "ws", 1)
    with connect(address, proxy=None) as connection:
        connection.send("what?")
        assert "error" in json.loads(connection.recv(IN_TIME_S))


def test_nothing_of_the_supervisor_is_seen_inside(desk_of_all: Sshing) -> None:
    homes = desk_of_all.service.data_dir.glob(f"replicas/*/{MASTER}/ticket.json")
    tokens = [json.loads(home.read_text())["token"] for home in homes]
    seen = desk_of_all.ssh("--command", "env; tr '\\0' ' ' </proc/self/cmdline; ls -l /proc/$$/fd")
    assert seen.returncode == 0
    for secret in (*tokens, "server.json"):
        assert secret not in seen.stdout.decode()


def peak_kb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def test_a_flood_waits_for_its_reader(desk_of_all: Sshing) -> None:
    """Nobody reads until the writer stands still; then all of it comes."""
    word = f"flood{uuid.uuid4().hex}"
    before = peak_kb(desk_of_all.service.pid)
    command = f"exec {sys.executable} -c '{FLOOD}' {MUCH_BYTES} {word}"
    uri = desk_of_all.uris(desk_of_all.name)[MASTER]
    shell = RemoteShell(uri, Opening(command=command))
    wait_until(lambda: bool(find_living(word)), "the writer")
    (writer,) = find_living(word)
    last = [-1, -2, -3]

    def stands_still() -> bool:
        last.insert(0, int(Path(f"/proc/{writer}/io").read_text().split()[3]))
        return last[0] > 0 and last[0] == last[20 if len(last) > 20 else -1]

    wait_until(stands_still, "the writer to stand still")
    assert last[0] < MUCH_BYTES / 2
    size = 0
    for message in shell:
        if isinstance(message, bytes):
            size += len(message)
        elif isinstance(message, Exit):
            assert message.code == 0
            break
    shell.close()
    assert size == MUCH_BYTES
    assert peak_kb(desk_of_all.service.pid) - before < LITTLE_KB


FLOOD = "import os, sys; [os.write(1, bytes(10000)) for _ in range(int(sys.argv[1]) // 10000)]"


def test_only_so_many_are_open_at_once(desk_of_all: Sshing) -> None:
    uri = desk_of_all.uris(desk_of_all.name)[MASTER]
    shells = [RemoteShell(uri, Opening(command="cat")) for _ in range(8)]
    try:
        for shell in shells:
            shell.send(b"hello")
            assert next(m for m in shell if isinstance(m, bytes)) == b"hello"
        one_more = RemoteShell(uri, Opening(command="cat"))
        refusal = next(m for m in one_more if isinstance(m, Failure))
        assert "8 shells open" in refusal.message
        one_more.close()
    finally:
        for shell in shells:
            shell.close()


def test_a_shell_ends_with_its_program(desk_of_all: Sshing) -> None:
    name, word = desk_of_all.start(), f"footplate-test-{uuid.uuid4().hex}"
    command = f"trap '' HUP TERM INT; echo in; : {word}; read -r forever"
    shell = RemoteShell(desk_of_all.uris(name)[MASTER], Opening(command=command))
    assert next(m for m in shell if isinstance(m, bytes)) == b"in\n"
    assert find_living(word)

    desk_of_all.out(name).joinpath("end").touch()
    end = next(m for m in shell if isinstance(m, Failure))
    shell.close()
    assert "program" in end.message or "SUCCEEDED" in end.message
    assert desk_of_all.wait_for(name).state is State.SUCCEEDED
    assert find_living(word) == []
    assert desk_of_all.uris(name) == {}


def test_who_leaves_takes_his_shell_along(desk_of_all: Sshing) -> None:
    word = f"footplate-test-{uuid.uuid4().hex}"
    uri = desk_of_all.uris(desk_of_all.name)[MASTER]
    shell = RemoteShell(uri, Opening(command=f"echo in; : {word}; read -r forever"))
    assert next(m for m in shell if isinstance(m, bytes)) == b"in\n"
    shell.close()
    wait_until(lambda: find_living(word) == [], "the shell's end")
    desk_of_all.until(lambda: desk_of_all.shells()[-1][1].endswith("the user closed the shell"))


def test_a_server_that_stops_says_goodbye_and_its_successor_opens_others(
    desk_of_all: Sshing,
) -> None:
    uri = desk_of_all.uris(desk_of_all.name)[MASTER]
    shell = RemoteShell(uri, Opening(command="echo in; read -r forever"))
    messages = iter(shell)
    assert next(m for m in messages if isinstance(m, bytes)) == b"in\n"
    desk_of_all.service.stop()
    with pytest.raises(ConnectionBroke, match="1012"):
        list(messages)
    shell.close()
    desk_of_all.service.start()
    assert desk_of_all.ssh("--command", "exit 4").returncode == 4
