"""The way to the outside, on a machine that is a fake."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from footplate.replica.network.nat import Nat, switch_on
from tests.unit.replica.network.machine import Machine, is_bare

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def switched() -> list[str]:
    return []


def open_way(machine: Machine, switched: list[str]) -> list[str]:
    return Nat(machine.run, switched.append).open()


def test_iptables_comes_first_for_its_chains_may_forbid_it(switched: list[str]) -> None:
    machine = Machine("iptables", "nft")
    for _ in range(2):
        assert open_way(machine, switched) == []
        assert [rule.rpartition(" ")[2] for rule in machine.rules] == [
            *("ACCEPT", "ACCEPT", "DROP"),
            "MASQUERADE",
        ]
    assert machine.tables == []
    assert [path.split("/")[-2] for path in switched[:2]] == ["footplate0", "wan0"]


def test_rules_of_which_some_were_removed_are_made_anew_in_order(switched: list[str]) -> None:
    machine = Machine("iptables")
    open_way(machine, switched)
    whole = list(machine.rules)
    machine.rules = [rule for rule in whole if not rule.endswith("DROP")]
    assert open_way(machine, switched) == []
    assert machine.rules == whole


def test_nft_where_there_is_no_iptables_or_it_fails(switched: list[str]) -> None:
    machine = Machine("nft")
    assert open_way(machine, switched) == []
    assert "masquerade" in machine.tables[0]
    machine = Machine("iptables", "nft")
    machine.broken = "iptables"
    assert open_way(machine, switched) == []
    assert machine.tables


def test_without_either_it_says_so_and_nothing_is_switched(switched: list[str]) -> None:
    assert open_way(Machine(), switched) == [
        "nothing masquerades: there is no iptables on this machine; there is no nft on this machine"
    ]
    assert switched == []


def test_a_machine_that_has_no_way_out_itself(switched: list[str]) -> None:
    machine = Machine("nft")
    machine.routes.clear()
    assert open_way(machine, switched) == ["this machine has no default route"]


def test_a_machine_that_may_not_forward() -> None:
    def refuse(path: str) -> None:
        raise OSError(30, "Read-only file system", path)

    faults = Nat(Machine("nft").run, refuse).open()
    assert faults == ["footplate0 can't be made to forward: Read-only file system"]


@pytest.mark.parametrize("tools", [(), ("nft",), ("iptables",), ("iptables", "nft")])
def test_nothing_of_it_is_left(tools: tuple[str, ...], switched: list[str]) -> None:
    machine = Machine(*tools)
    open_way(machine, switched)
    Nat(machine.run, switched.append).close()
    assert is_bare(machine)


def test_what_is_switched_on_already_is_not_written(tmp_path: Path) -> None:
    switch = tmp_path / "forwarding"
    switch.write_text("0\n")
    switch_on(str(switch))
    assert switch.read_text().startswith("1")
    os.utime(switch, (7, 7))
    switch_on(str(switch))
    assert switch.stat().st_mtime == 7
