from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.replica.network.addresses import GATEWAY, SUBNET, Address, is_link

_MOST_NAME_BYTES = 15
"""Of a device: the kernel's bound."""


@given(st.integers(2, 65534))
def test_everything_follows_from_the_address_and_leads_back(number: int) -> None:
    address = Address(number)
    assert ip_address(address.host) in ip_network(SUBNET)
    assert address.host != GATEWAY
    assert Address.parse(address.host).number == number
    assert is_link(address.link)
    assert len(address.link) <= _MOST_NAME_BYTES
    assert address.hardware.startswith("02:46:c6:12:")


@given(st.integers(2, 65534), st.integers(2, 65534))
def test_two_addresses_share_nothing(one: int, other: int) -> None:
    first, second = Address(one), Address(other)
    assert (first.link == second.link) == (first.hardware == second.hardware) == (one == other)


@pytest.mark.parametrize("number", [-1, 0, 1, 65535, 65536])
def test_the_bridges_own_and_those_of_all_are_nobodys(number: int) -> None:
    with pytest.raises(ValueError, match="allowed: 2 to 65534"):
        Address(number)


@pytest.mark.parametrize(
    "host", ["", "127.0.0.1", "198.18.0.1", "198.18.1.256", "198.19.0.2", "198.18.1.2\n", "x"]
)
def test_other_hosts_are_none_of_ours(host: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        Address.parse(host)


@pytest.mark.parametrize("name", ["eth0", "footplate0", "fp-", "fp-1.2.3", "fp-1.2\n", "xfp-1.2"])
def test_other_devices_are_none_of_ours(name: str) -> None:
    assert not is_link(name)


def test_any_address_may_be_drawn() -> None:
    assert len({Address.draw().number for _ in range(50)}) > 40
