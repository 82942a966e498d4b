"""Replicas in network namespaces, on a machine that is a network namespace of the test's own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from footplate.replica.isolation import procfs, syscalls
from footplate.replica.network.replica_network import NetworkUnavailable, ReplicaNetwork, clear
from tests.e2e.replica.conftest import STRICT
from tests.support.supervisor_process import python_task, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.supervisor_process import Supervised

    Make = Callable[..., Supervised]

OWN = "/proc/thread-self/ns/net"
WAYS = f"{os.environ['PATH']}:/usr/sbin:/sbin"
TALKING = """
import json, os, socket, sys, time
print(os.stat("/proc/self/ns/net").st_ino, socket.gethostbyname(socket.gethostname()), flush=True)
listening = [socket.create_server(("", port)) for port in (2222, 3333)]
for place in os.environ["CALLED"].split():
    host, port = place.split(":")
    try:
        with socket.create_connection((host, int(port)), 5) as peer:
            print(place, "answers", flush=True)
    except OSError as error:
        print(place, type(error).__name__, flush=True)
if "WAIT" in os.environ:
    time.sleep(600)
"""


def ip(*arguments: str) -> str:
    done = subprocess.run(("ip", *arguments), check=True, capture_output=True, text=True)
    return done.stdout


def links() -> set[str]:
    """The devices of the machine that the test is on."""
    return {link["ifname"] for link in json.loads(ip("-j", "link"))}


def find_in(namespace: int) -> list[procfs.Process]:
    """The processes in a network namespace, by its inode, which is used again when it is gone."""
    return [p for p in procfs.find_all() if _namespace(p.pid) == namespace]


def _namespace(pid: int) -> int:
    try:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    except OSError:  # it has ended meanwhile
        return 0


@pytest.fixture
def machine() -> Iterator[None]:
    """The test and all that it starts are on a machine that has only a loopback."""
    able = sys.platform == "linux" and os.geteuid() == 0 and shutil.which("ip", path=WAYS)
    if not able:
        assert not STRICT, "there is no ip (package iproute2)"
        pytest.skip("needs Linux, root, and the command ip")
    own = os.open(OWN, os.O_RDONLY)
    try:
        syscalls.unshare(syscalls.CLONE_NEWNET)
    except OSError as error:
        os.close(own)
        if STRICT:
            raise
        pytest.skip(f"no network namespaces here: {error}")
    ip("link", "set", "lo", "up")
    yield
    syscalls.enter_network(own)
    os.close(own)


pytestmark = pytest.mark.usefixtures("machine")


def gather(
    make_replica: Make, address: dict[str, Any] | None = None, **options: Any
) -> tuple[Supervised, str]:
    """A replica that waits for others, and its address."""
    task = python_task(TALKING, gathering_s=600.0, address=address)
    replica = make_replica(task, **{"network": "namespaces", **options})
    replica.api.awaited = ["worker-replica-1"]
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.questions > 0 or replica.api.exit is not None)
    ready = replica.api.ready
    assert ready is not None, replica.api.describe()
    assert (ready["port"], ready["open_ports"]) == (2222, [3333])
    return replica, ready["host"]


def go(replica: Supervised, *called: str, wait: bool = False) -> None:
    """Let the program run, and call these places."""
    replica.api.environment = [["CALLED", " ".join(called)], *([["WAIT", "1"]] if wait else [])]
    replica.api.awaited = []
    lines = len(called) + 1
    replica.api.wait_for(lambda: len(replica.api.lines()) == lines or replica.api.exit is not None)


def test_all_have_the_same_ports_at_addresses_of_their_own(
    make_replica: Make, containment_mode: str
) -> None:
    first, host = gather(make_replica, isolation=containment_mode)
    second, other = gather(make_replica, isolation=containment_mode)
    assert host != other
    assert links() == {"lo", "footplate0", *(f"fp-{h[7:]}" for h in (host, other))}

    go(first, wait=True)
    go(second, f"{host}:2222", f"{host}:3333", f"{other}:2222", "127.0.0.1:2222")
    assert second.finish()["kind"] == "EXITED", second.api.lines("stderr")
    named, *answers = second.api.lines()
    assert named.split()[1] == other
    assert [answer.split()[1] for answer in answers] == ["answers"] * 4
    assert links() == {"lo", "footplate0", f"fp-{host[7:]}"}

    first.process.terminate()
    first.finish()
    assert links() == {"lo"}


def test_the_service_on_the_machines_loopback_is_out_of_reach(make_replica: Make) -> None:
    replica, _ = gather(make_replica)
    port = json.loads(replica.api.server_file.read_text())["url"].rpartition(":")[2]
    with socket.create_server(("", 0)) as anybodys:
        wide = anybodys.getsockname()[1]
        go(replica, f"127.0.0.1:{port}", f"198.18.0.1:{port}", f"198.18.0.1:{wide}")
        replica.finish()
    assert replica.api.lines()[1:] == [
        f"127.0.0.1:{port} ConnectionRefusedError",
        f"198.18.0.1:{port} ConnectionRefusedError",
        f"198.18.0.1:{wide} answers",
    ]


def test_a_replica_that_is_alone_stays_where_it_is(make_replica: Make) -> None:
    replica = make_replica(python_task(TALKING, environment=[["CALLED", ""]]), network="namespaces")
    assert replica.supervise()["kind"] == "EXITED"
    assert int(replica.api.lines()[0].split()[0]) == Path(OWN).stat().st_ino
    assert links() == {"lo"}


def test_a_supervisor_that_is_killed_leaves_nothing(
    make_replica: Make, containment_mode: str
) -> None:
    replica, host = gather(make_replica, isolation=containment_mode)
    go(replica, wait=True)
    namespace = int(replica.api.lines()[0].split()[0])
    inside = find_in(namespace)
    assert inside
    replica.process.kill()
    replica.process.wait()
    assert replica.sweep() == 0
    assert not any(map(procfs.is_alive, inside))
    assert links() == {"lo"}
    clear(json.loads((replica.home / "isolation.json").read_text())["network"])  # as a sweep again

    again = ReplicaNetwork.open(host)
    assert again.host == host
    again.close()
    assert links() == {"lo"}


def test_one_that_is_killed_before_its_program_runs_needs_no_sweep(make_replica: Make) -> None:
    """For its address: the kernel frees that. The sweep clears up the rest."""
    replica, host = gather(make_replica)
    replica.process.kill()
    replica.process.wait()
    wait_until(lambda: links() == {"lo", "footplate0"}, "the end of its device")
    ReplicaNetwork.open(host).close()
    assert links() == {"lo"}
    assert replica.sweep() == 0


def test_one_that_comes_back_is_where_it_was(make_replica: Make) -> None:
    """Whatever the setting is by then."""
    replica, host = gather(make_replica)
    replica.process.kill()
    replica.process.wait()
    assert replica.sweep() == 0
    address = {"host": host, "port": 2222, "open_ports": [3333]}
    again, where = gather(make_replica, address, network="shared")
    assert where == host
    again.process.terminate()
    again.finish()

    there = {"host": "127.0.0.1", "port": 40001, "open_ports": [40002]}
    task = python_task("", gathering_s=600.0, address=there)
    third = make_replica(task, network="namespaces")
    assert third.supervise()["kind"] == "EXITED"
    ready = third.api.ready
    assert ready is not None
    assert {name: ready[name] for name in there} == there


def test_a_sweep_leaves_alone_who_has_the_address_now(make_replica: Make) -> None:
    replica, host = gather(make_replica)
    replica.process.kill()
    replica.process.wait()
    heir = ReplicaNetwork.open(host)
    assert replica.sweep() == 0
    assert links() == {"lo", "footplate0", f"fp-{host[7:]}"}
    heir.close()
    assert links() == {"lo"}


@pytest.mark.parametrize("link", ["up0", "footplate0"])
def test_a_record_that_was_spoilt_harms_no_device_of_others(link: str) -> None:
    """The program may write to it."""
    place = ReplicaNetwork.open()
    ip("link", "add", "up0", "type", "bridge")
    index = json.loads(ip("-j", "link", "show", link))[0]["ifindex"]
    clear({**place.record(), "link": link, "index": index})
    assert link in links()
    place.close()
    assert links() == {"lo", "up0"}


def test_a_wanted_address_that_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("footplate.replica.network.veth._TIMEOUT_S", 0.0)
    place = ReplicaNetwork.open("198.18.3.17")
    with pytest.raises(NetworkUnavailable, match=r"198\.18\.3\.17 is taken on this machine"):
        ReplicaNetwork.open("198.18.3.17")
    place.close()


def test_a_wanted_address_is_waited_for() -> None:
    """What had it before may be about to go."""
    place = ReplicaNetwork.open("198.18.3.17")
    link = place.record()["link"]
    soon = subprocess.Popen(["sh", "-c", f"sleep 0.3; ip link delete {link}"])
    ReplicaNetwork.open("198.18.3.17").close()
    assert soon.wait() == 0
    place.close()


def probe(archive: Path) -> dict[str, Any]:
    command = (sys.executable, "-I", "-S", str(archive), "probe-network", "namespaces")
    told: dict[str, Any] = json.loads(
        subprocess.run(command, check=True, capture_output=True).stdout
    )
    return told


def test_the_probe_leaves_nothing(archive: Path) -> None:
    assert probe(archive)["fault"] == ""
    assert links() == {"lo"}


def test_the_probe_finds_who_uses_the_addresses(archive: Path) -> None:
    ip("link", "add", "up0", "type", "bridge")
    ip("addr", "add", "198.18.7.1/24", "dev", "up0")
    ip("link", "set", "up0", "up")
    assert probe(archive)["fault"].startswith("198.18.0.0/16 is in use here: 198.18.7.0/24 dev up0")
    assert links() == {"lo", "up0"}


@pytest.fixture
def world() -> Iterator[int]:
    """The namespace of a host 203.0.113.1 beyond the machine, where its default route leads."""
    if not shutil.which("nft", path=WAYS) and not shutil.which("iptables", path=WAYS):
        assert not STRICT, "there is neither nft (package nftables) nor iptables"
        pytest.skip("needs nft or iptables")
    machine = os.open(OWN, os.O_RDONLY)
    syscalls.unshare(syscalls.CLONE_NEWNET)
    beyond = os.open(OWN, os.O_RDONLY)
    path = f"/proc/{os.getpid()}/fd/{machine}"
    ip("link", "add", "eth0", "type", "veth", "peer", "name", "up0", "netns", path)
    ip("addr", "add", "203.0.113.1/24", "dev", "eth0")
    ip("link", "set", "eth0", "up")
    syscalls.enter_network(machine)
    ip("addr", "add", "203.0.113.2/24", "dev", "up0")
    ip("link", "set", "up0", "up")
    ip("route", "add", "default", "via", "203.0.113.1")
    yield beyond
    syscalls.enter_network(machine)
    os.close(beyond)
    os.close(machine)


def test_the_outside_is_reached_as_the_machine_and_cannot_call(
    make_replica: Make, world: int
) -> None:
    replica, host = gather(make_replica)
    told = f"{host} in a network namespace of its own; the outside is reached"
    assert [event.startswith(told) for event in replica.api.events("NETWORK")] == [True]
    machine = os.open(OWN, os.O_RDONLY)
    syscalls.enter_network(world)
    with socket.create_server(("", 80)) as server:
        ip("route", "add", "198.18.0.0/16", "via", "203.0.113.2")
        syscalls.enter_network(machine)
        go(replica, "203.0.113.1:80", wait=True)
        assert replica.api.lines()[1:] == ["203.0.113.1:80 answers"]
        peer, seen = server.accept()
        peer.close()
        assert seen[0] == "203.0.113.2"
    syscalls.enter_network(world)
    with pytest.raises(TimeoutError):
        socket.create_connection((host, 2222), 1.0)
    syscalls.enter_network(machine)
    os.close(machine)


def test_without_a_way_out_an_event_says_so(make_replica: Make) -> None:
    replica, host = gather(make_replica)
    (told,) = replica.api.events("NETWORK")
    assert told.startswith(
        f"{host} in a network namespace of its own; the outside can't be reached"
    )
    replica.process.terminate()
    replica.finish()
