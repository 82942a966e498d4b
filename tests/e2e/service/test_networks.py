"""Gangs each of whose replicas has a network namespace of its own, and port 2222 there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from footplate.domain.job_states import State
from footplate.testing.service import FOOTPLATE, outside, running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.e2e.service.test_clusters import LATE, Gang, check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ABLE = (
    sys.platform == "linux"
    and os.geteuid() == 0
    and shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is not None
)
pytestmark = [
    pytest.mark.skipif(
        not ABLE and os.environ.get("CI") != "true", reason="needs Linux, root, and the command ip"
    ),
]


@contextmanager
def desk_in(data_dir: Path) -> Iterator[Context]:
    settings = {"stop_grace_s": 1, "network": "namespaces"}
    with running_service(data_dir, CACHE, **settings) as service:
        yield Context(service)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with desk_in(tmp_path / "data") as context:
        yield context


def hosts(gang: Gang) -> dict[str, str]:
    """The address of each replica that is, or was, ready in the attempt that there is now."""
    known = {each.name: each.address for each in gang.record().replicas}
    assert {(a.port, a.open_ports) for a in known.values() if a is not None} <= {(2222, (3333,))}
    return {name: address.host for name, address in known.items() if address is not None}


def links(*hosts: str) -> set[str]:
    """The devices that the replicas with these addresses have on the machine."""
    done = subprocess.run(("ip", "-j", "link"), check=True, capture_output=True, text=True)
    named = {link["ifname"] for link in json.loads(done.stdout)}
    return {f"fp-{host.removeprefix('198.18.')}" for host in hosts} & named


def test_all_listen_on_the_same_port_and_find_each_other(context: Context) -> None:
    gang = Gang(context)
    gang.meet()
    known = hosts(gang)
    assert len(set(known.values())) == len(links(*known.values())) == 4
    check(gang)
    assert links(*known.values()) == set()


def test_a_lost_replica_comes_back_to_its_address(context: Context) -> None:
    """Also when no server runs while it is lost; and nothing of it is left in the end."""
    gang = Gang(context)
    gang.meet()
    known = hosts(gang)
    host = known["worker-replica-0"]
    os.kill(gang.supervisors()["worker-replica-0"], signal.SIGKILL)
    gang.wait_for_line(f"worker-0 is back at {host}:2222 as 1 1")
    context.service.kill()
    os.kill(gang.supervisors()["worker-replica-0"], signal.SIGKILL)
    context.service.start()
    gang.wait_for_line(f"worker-0 is back at {host}:2222 as 1 2")
    assert hosts(gang) == known
    assert len(links(*known.values())) == 4
    gang.finish()
    context.wait_for(gang.name, State.SUCCEEDED)
    assert links(*known.values()) == set()


def test_one_that_is_lost_while_they_gather_comes_back_to_it(context: Context) -> None:
    gang = Gang(context)
    with gang.all_ready_but(LATE):
        known = hosts(gang)
        context.service.kill()
        os.kill(gang.supervisors()["ps-replica-0"], signal.SIGKILL)
    context.service.start()
    check(gang)
    assert hosts(gang).items() >= known.items()
    assert links(*known.values()) == set()


def test_two_services_do_not_disturb_each_other(context: Context, tmp_path: Path) -> None:
    """And `down` leaves nothing."""
    gang = Gang(context)
    gang.build()
    with desk_in(tmp_path / "other") as other:
        second = Gang(other)
        second.meet()
        context.until(gang.all_met)
        first, others = hosts(gang), hosts(second)
        assert set(first.values()).isdisjoint(others.values())
        other.service.down()
        assert links(*others.values()) == set()
        assert len(links(*first.values())) == 4
    check(gang)
    assert links(*first.values()) == set()


def test_up_refuses_where_there_can_be_none(tmp_path: Path) -> None:
    variables = {"DATA_DIR": tmp_path, "CACHE_DIR": CACHE, "PORT": 0, "NETWORK": "namespaces"}
    done = subprocess.run(
        ("setpriv", "--bounding-set", "-sys_admin", "--", *FOOTPLATE, "up"),
        env={**outside(os.environ), **{f"FOOTPLATE_{n}": str(v) for n, v in variables.items()}},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "Error: network: 'namespaces' given, and this machine can't: unshare: Operation not "
        "permitted; namespaces need Linux, root, and the command ip (package iproute2); or keep "
        "to 'shared', where each replica has a port of its own\n"
    )
