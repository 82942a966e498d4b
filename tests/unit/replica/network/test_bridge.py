"""The bridge, on a machine that is a fake."""

from __future__ import annotations

import pytest

from footplate.replica.network.addresses import BRIDGE, Address
from footplate.replica.network.ip_commands import CommandFailed
from footplate.replica.network.veth import AddressInUse, Bridge, configure_bridge, draw
from tests.unit.replica.network.machine import Machine, is_bare

NAMESPACE = "/proc/7/fd/5"


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def bridge(machine: Machine) -> Bridge:
    bridge = Bridge(machine.run)
    bridge.make()
    return bridge


def test_it_is_made_once_however_often(machine: Machine, bridge: Bridge) -> None:
    bridge.make()
    assert machine.links == {BRIDGE: 7}
    assert bridge.is_idle
    bridge.remove()
    assert is_bare(machine)
    assert not bridge.is_idle


def test_a_name_of_the_kernel_keeps_an_address_its_own(machine: Machine, bridge: Bridge) -> None:
    address = Address.parse("198.18.3.17")
    index = bridge.connect(address, NAMESPACE)
    assert machine.ports == {"fp-3.17"}
    assert not bridge.is_idle
    with pytest.raises(AddressInUse, match=r"198\.18\.3\.17 is taken"):
        bridge.connect(address, NAMESPACE)
    bridge.disconnect("fp-3.17", index)
    assert machine.links.keys() == {BRIDGE}
    bridge.connect(address, NAMESPACE)


def test_what_has_the_name_now_is_left_alone(machine: Machine, bridge: Bridge) -> None:
    """The kernel was faster, and somebody was given the same address since."""
    address = Address.parse("198.18.3.17")
    index = bridge.connect(address, NAMESPACE)
    machine.lose("fp-3.17")
    bridge.disconnect("fp-3.17", index)
    bridge.connect(address, NAMESPACE)
    bridge.disconnect("fp-3.17", index)
    assert "fp-3.17" in machine.links


def test_a_device_that_cannot_be_connected_is_not_left(machine: Machine, bridge: Bridge) -> None:
    machine.broken = "ip link set fp-"
    with pytest.raises(CommandFailed, match="Operation not permitted"):
        bridge.connect(Address(2), NAMESPACE)
    assert machine.links.keys() == {BRIDGE}


def test_a_free_address_is_drawn(machine: Machine, bridge: Bridge) -> None:
    drawn = [draw(bridge, None, NAMESPACE)[0].link for _ in range(30)]
    assert machine.ports == set(drawn)
    assert len(machine.ports) == 30


def test_where_all_are_taken_no_other_is_made_up(machine: Machine, bridge: Bridge) -> None:
    wanted = Address(9)
    bridge.connect(wanted, NAMESPACE)
    with pytest.raises(AddressInUse, match=r"198\.18\.0\.9 is taken"):
        draw(bridge, wanted, NAMESPACE)
    machine.links.update({Address(number).link: number for number in range(2, 65535)})
    with pytest.raises(AddressInUse, match="all are taken"):
        draw(bridge, None, NAMESPACE)


@pytest.mark.parametrize(
    ("route", "fault"),
    [
        ("198.18.0.0/16 dev footplate0 proto kernel scope link src 198.18.0.1", ""),
        ("198.18.4.0/24 dev tun0 scope link", "198.18.4.0/24 dev tun0 scope link"),
    ],
)
def test_a_machine_that_uses_the_addresses_itself(
    machine: Machine, bridge: Bridge, route: str, fault: str
) -> None:
    machine.routes.append(route)
    assert bridge.conflict() == (f"198.18.0.0/16 is in use here: {fault}" if fault else "")


def test_inside_there_are_a_loopback_and_a_way_to_the_others() -> None:
    told: list[str] = []

    def run(argv: list[str], _: str) -> str:
        told.append(" ".join(argv))
        return ""

    configure_bridge(run, Address.parse("198.18.3.17"))
    assert told == [
        "ip link set lo up",
        "ip addr add 198.18.3.17/16 dev eth0",
        "ip link set eth0 up",
        "ip route add default via 198.18.0.1",
    ]
