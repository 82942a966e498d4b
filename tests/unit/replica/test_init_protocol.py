"""What an init is told by its supervisor, from which it was forked before."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from footplate.replica.isolation.hidden_paths import HiddenPaths
from footplate.replica.isolation.init_protocol import InitConfig
from footplate.replica.isolation.mount_namespace import MountNamespace
from footplate.replica.isolation.spawn import Launch
from footplate.replica.isolation.users import User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Ends = tuple[socket.socket, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        yield ours, theirs


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[int]]:
    """Five of them, each with its number in it."""
    opened = [os.open(tmp_path / str(n), os.O_RDWR | os.O_CREAT) for n in range(5)]
    for number, descriptor in enumerate(opened):
        os.pwrite(descriptor, str(number).encode(), 0)
    yield opened
    for descriptor in opened:
        os.close(descriptor)


def read(*descriptors: int) -> str:
    """What is in the files, which are closed."""
    try:
        return "".join(os.pread(descriptor, 8, 0).decode() for descriptor in descriptors)
    finally:
        for descriptor in descriptors:
            assert not os.get_inheritable(descriptor)
            os.close(descriptor)


def test_a_launch_comes_as_it_was(ends: Ends, files: list[int]) -> None:
    out, err, inside, outside, _ = files
    environment = {"NAME": "a word \udcff", "EMPTY": ""}
    launch = Launch(["a", "b c"], environment, "/w", out, err)
    assert InitConfig(launch, None, [inside], [outside]).send(ends[0])
    order = InitConfig.receive(ends[1])
    got = order.launch
    assert (got.argv, got.environment, got.cwd) == (["a", "b c"], environment, "/w")
    assert order.view is None
    assert read(got.stdout, got.stderr) == "01"
    assert read(*order.inside) + read(*order.outside) == "23"


def test_a_view_comes_as_it_was(ends: Ends, files: list[int], tmp_path: Path) -> None:
    (tmp_path / "data" / "own").mkdir(parents=True)
    data = str(tmp_path / "data")
    view = MountNamespace("/root", "/tmp-of-it", "/buckets", (data,))
    view.files = [("/from", "/to")]
    view.records = "/buckets/.footplate"
    view.bound = [["/srv", "data", True]]  # type: ignore[list-item]  # as it arrives
    view.hidden_paths = HiddenPaths("/cover", [data], [f"{data}/own"], [])
    assert InitConfig(Launch(["a"], {}, "/", *files[:2]), view).send(ends[0])
    order = InitConfig.receive(ends[1])
    assert order.view is not None
    assert order.view.tell() == view.tell()
    read(*order.launch.descriptors())


def test_a_user_and_the_map_of_a_view_come_along(ends: Ends, files: list[int]) -> None:
    out, err, id_map, inside, outside = files
    view = MountNamespace("/root", "", "/buckets", ())
    view.mapped, view.id_map = ["/buckets"], id_map
    launch = Launch(["a"], {}, "/", out, err, user=User(7, 8, [44]))
    assert InitConfig(launch, view, [inside], [outside]).send(ends[0])
    order = InitConfig.receive(ends[1])
    assert order.launch.user is not None
    assert order.launch.user.encode() == [7, 8, [44], "footplate"]
    assert order.view is not None
    assert order.view.mapped == ["/buckets"]
    assert read(order.view.id_map, *order.inside, *order.outside) == "234"
    read(*order.launch.descriptors())


def test_an_order_longer_than_a_socket_holds(ends: Ends, files: list[int]) -> None:
    environment = {f"N{number}": "x" * 100_000 for number in range(20)}
    sent = InitConfig(Launch(["a"], environment, "/", *files[:2]), None)
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(sent.send, ends[0])
        order = InitConfig.receive(ends[1])
    assert sending.result()
    assert order.launch.environment == environment
    read(*order.launch.descriptors())


def test_without_an_order_the_end_of_the_control_socket_tells(ends: Ends) -> None:
    ends[0].close()
    with pytest.raises(EOFError):
        InitConfig.receive(ends[1])


def test_a_part_of_an_order_is_none(ends: Ends) -> None:
    ends[0].sendall((100).to_bytes(8, "little") + b"only so much")
    ends[0].close()
    with pytest.raises(EOFError):
        InitConfig.receive(ends[1])


def test_nobody_is_there_to_hear_it(ends: Ends, files: list[int]) -> None:
    ends[1].close()
    assert not InitConfig(Launch(["a"], {}, "/", *files[:2]), None).send(ends[0])
