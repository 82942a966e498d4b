"""What a replica that waits for its gang holds, and says."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.protocol.task import Address, Start
from footplate.replica.background_tasks import BackgroundTasks
from footplate.replica.context import Context
from footplate.replica.control_requests import ControlRequests
from footplate.replica.isolation.mount_namespace import MountNamespace
from footplate.replica.journal import Journal
from footplate.replica.nonblocking_http import NonblockingRequest
from footplate.replica.phase import Delivering
from footplate.replica.program_spec import TaskError
from footplate.replica.program_start import Program
from footplate.replica.rendezvous import (
    LONGEST_GAP_S,
    Ports,
    Rendezvous,
    compose_hosts,
    enumerate_names,
    reserve_address,
    take_ports,
)
from footplate.replica.report_client import ReportClient
from footplate.replica.spool import Spool
from tests.support.replica_context import make_context, make_task

HOSTS = """\
# the machine's
127.0.0.1\tlocalhost
127.0.1.1\tbox.example box  # its own
::1 localhost ip6-localhost box
192.0.2.7 files.example files
"""


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "the others"),
        (["w-1"], "w-1"),
        (["w-1", "w-3"], "w-1 and w-3"),
        (["w-1", "w-3", "ps-0"], "w-1, w-3 and ps-0"),
        (["w-1", "w-3", "ps-0", "ps-1"], "w-1, w-3, ps-0 and 1 other"),
        (["w-1", "w-3", "ps-0", "ps-1", "ps-2"], "w-1, w-3, ps-0 and 2 others"),
    ],
)
def test_the_first_three_that_are_awaited_are_named(names: list[str], words: str) -> None:
    assert enumerate_names(names) == f"{words} to be ready"


def bind(host: str, port: int) -> None:
    with socket.socket() as bound:
        bound.bind((host, port))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", ""])
def test_ports_are_nobody_elses_until_they_are_released(host: str) -> None:
    ports = Ports([0, 0, 0])
    assert len(set(ports.numbers)) == 3
    for number in ports.numbers:
        with pytest.raises(OSError, match="in use") as caught:
            bind(host, number)
        assert caught.value.errno == errno.EADDRINUSE
    ports.release()
    for number in ports.numbers:
        bind(host, number)


def test_nobody_can_reach_a_port_that_is_held() -> None:
    ports = Ports([0])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", ports.numbers[0]))
    ports.release()


def listen() -> socket.socket:
    """On a port of every address, as programs do."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("", 0))
    server.listen()
    return server


def address(port: int, *others: int) -> Address:
    return Address("127.0.0.1", port, others)


def test_one_that_comes_back_takes_its_ports_again_though_connections_linger() -> None:
    server = listen()
    port = server.getsockname()[1]
    peer = socket.create_connection(("127.0.0.1", port))
    accepted, _ = server.accept()
    accepted.close()  # whoever closes first keeps the port for a while
    server.close()
    peer.close()

    ports = take_ports(address(port))
    assert ports.numbers == [port]
    ports.release()


def test_one_whose_port_is_taken_meanwhile_says_so_and_holds_nothing() -> None:
    free = take_ports(None)
    free.release()
    with listen() as server:
        taken = server.getsockname()[1]
        with pytest.raises(TaskError, match=f"port {free.numbers[0]} or {taken} again"):
            take_ports(address(free.numbers[0], taken))
    bind("", free.numbers[0])


def test_on_a_machine_of_an_engine_its_name_leads_to_where_others_reach_it(
    context: Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "node-1")
    context.ticket.host = "192.0.2.9"
    view = MountNamespace(str(tmp_path / "root"), "", "", ())
    reserve_address(context, view).release()
    [(path, place)] = view.files
    assert place == "/etc/hosts"
    assert Path(path).read_text().splitlines()[0] == "192.0.2.9 node-1"


def test_on_the_services_machine_programs_see_its_own_hosts_file(
    context: Context, tmp_path: Path
) -> None:
    view = MountNamespace(str(tmp_path / "root"), "", "", ())
    reserve_address(context, view).release()
    assert not view.files


def test_the_machines_own_name_leads_to_the_replica_and_no_other_does() -> None:
    assert compose_hosts(HOSTS, "198.51.100.7", "box").splitlines() == [
        "198.51.100.7 box.example box",
        "# the machine's",
        "127.0.0.1\tlocalhost",
        "::1 localhost ip6-localhost",
        "192.0.2.7 files.example files",
    ]


def test_a_name_that_is_in_no_file_is_there_then() -> None:
    assert compose_hosts("", "198.51.100.7", "box") == "198.51.100.7 box\n"


def test_localhost_stays_the_loopback() -> None:
    assert compose_hosts(HOSTS, "198.51.100.7", "localhost.localdomain") == HOSTS


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def context(tmp_path: Path, clock: Clock) -> Iterator[Context]:
    """Of a gang's replica that may wait a minute; no server is there."""
    context = make_context(tmp_path, clock=clock.monotonic)
    spool = Spool(context.home.spool, 1_000_000)
    context.journal = Journal(spool, 1_000_000, clock.monotonic)
    exchange = NonblockingRequest(str(tmp_path / "server.json"), "token")
    context.report_client = ReportClient(exchange, spool, lambda: 0.5)
    second = NonblockingRequest(str(tmp_path / "server.json"), "token")
    context.control_requests = ControlRequests(
        second, BackgroundTasks(str(tmp_path), [], {}), lambda: 0.5
    )
    context.report_client.task = make_task(gathering_s=60.0)
    yield context
    spool.close()


def hear_of(gathering: Rendezvous, *awaited: str) -> str:
    """The server says who isn't ready; how the replica ends, if it does."""
    gathering.context.report_client.answer = Start(awaited=awaited)
    following = gathering.advance()
    return following.outcome if isinstance(following, Delivering) else ""


def test_it_waits_for_a_minute(context: Context, clock: Clock) -> None:
    gathering = Rendezvous(context, Program(["true"], [], {"TMPDIR": "/tmp"}, None))
    for _ in range(59):
        clock.now += 1
        assert not hear_of(gathering, "w-1", "w-2")
    clock.now += 1
    assert hear_of(gathering, "w-2") == "UNPREPARED 0: waited 60 s for w-2 to be ready"


def test_time_without_a_server_is_no_time_of_waiting(context: Context, clock: Clock) -> None:
    gathering = Rendezvous(context, Program(["true"], [], {"TMPDIR": "/tmp"}, None))
    for _ in range(int(60 / LONGEST_GAP_S) - 1):
        clock.now += 3600
        assert gathering.advance() is gathering
        assert not hear_of(gathering, "w-1")
    clock.now += 3600
    assert hear_of(gathering, "w-1")
