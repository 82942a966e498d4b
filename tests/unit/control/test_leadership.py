"""Who leads, and until when: two servers, one lease, clocks that tests set."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.control.leadership import Leadership
from footplate.ports.leases import Lease
from tests.support.leases import MemoryLeases

LIFE_S = 9.0


class Server:
    def __init__(self, rig: Rig, name: str) -> None:
        self._house = rig
        self.terms: list[Lease] = []
        self.over = 0
        self.kept = 0
        self.broken = False
        url = f"http://{name}"
        self.leadership = Leadership(
            rig.leases, name, url, LIFE_S, lambda: rig.passed_s, self.begin, self.end, self.keep
        )

    def begin(self, lease: Lease, leads: Callable[[], bool]) -> None:
        assert leads()
        if self.broken:
            raise OSError("no descriptors left")
        self.terms.append(lease)

    def end(self) -> None:
        self.over += 1

    def keep(self) -> None:
        self.kept += 1

    @property
    def leads(self) -> bool:
        return self.leadership.leads

    def step(self) -> float:
        return self.leadership.step()


class Rig:
    """The database's clock may be set; the monotonic one goes its way."""

    def __init__(self) -> None:
        self.passed_s = 100.0
        self.set_by_s = 0.0
        self.leases = MemoryLeases(lambda: 1e9 + self.passed_s + self.set_by_s)
        self.one, self.two = Server(self, "one"), Server(self, "two")

    def seconds_until_two_leads(self) -> float:
        began_s, due_s = self.passed_s, self.two.step()
        while not self.two.leads:
            self.passed_s += due_s
            due_s = self.two.step()
        return self.passed_s - began_s


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_the_first_leads_and_the_other_knows_where(rig: Rig) -> None:
    known = [rig.one.leadership.leader_url]
    rig.one.step()
    due_s = rig.two.step()
    assert [server.leads for server in (rig.one, rig.two)] == [True, False]
    assert [lease.epoch for lease in rig.one.terms] == [1]
    known += [rig.one.leadership.leader_url, rig.two.leadership.leader_url]
    assert known == [None, "http://one", "http://one"]
    assert 0 < due_s <= LIFE_S / 3


def test_a_leader_that_renews_goes_on_leading(rig: Rig) -> None:
    for _ in range(20):
        rig.passed_s += rig.one.step()
        rig.two.step()
    assert rig.one.leads
    assert (len(rig.one.terms), rig.one.over, rig.two.terms) == (1, 0, [])
    assert rig.one.kept == 19


def test_a_dead_leader_is_followed_when_its_lease_is_over(rig: Rig) -> None:
    rig.one.step()
    assert LIFE_S <= rig.seconds_until_two_leads() <= LIFE_S * 1.1
    assert rig.two.terms[0].epoch == 2


def test_a_leader_that_slept_is_none_before_it_has_noticed(rig: Rig) -> None:
    rig.one.step()
    rig.passed_s += LIFE_S
    assert [server.leads for server in (rig.one, rig.two)] == [False, False]
    rig.two.step()
    rig.one.step()
    assert rig.one.over == 1
    rig.one.step()
    assert [server.leads for server in (rig.one, rig.two)] == [False, True]
    assert rig.one.leadership.leader_url == "http://two"


def test_one_that_slept_and_was_not_missed_begins_anew(rig: Rig) -> None:
    rig.one.step()
    rig.passed_s += LIFE_S
    assert rig.one.step() == 0.0
    rig.one.step()
    assert rig.one.leads
    assert [lease.epoch for lease in rig.one.terms] == [1, 2]
    assert rig.one.over == 1


def test_an_end_in_order_lets_the_next_one_lead_at_once(rig: Rig) -> None:
    rig.one.step()
    rig.two.step()
    rig.one.leadership.close()
    assert (rig.one.leads, rig.one.over) == (False, 1)
    rig.two.step()
    assert rig.two.leads
    rig.one.leadership.close()
    assert rig.one.over == 1


def test_a_leader_without_a_database_stops_before_its_lease_is_over(rig: Rig) -> None:
    rig.one.step()
    rig.leases.away = True
    began_s = rig.passed_s
    while not rig.one.over:
        rig.passed_s += rig.one.step()
    assert not rig.one.leads
    assert rig.passed_s - began_s <= LIFE_S * 1.1
    rig.leases.away = False
    rig.one.step()
    assert rig.one.leads


def test_a_short_absence_of_the_database_changes_nothing(rig: Rig) -> None:
    rig.one.step()
    rig.leases.away = True
    rig.passed_s += rig.one.step()
    rig.leases.away = False
    rig.one.step()
    assert (rig.one.leads, rig.one.over) == (True, 0)


def test_a_clock_that_is_set_back_keeps_no_dead_leader_alive(rig: Rig) -> None:
    rig.one.step()
    rig.two.step()
    rig.set_by_s -= 3600.0
    assert rig.seconds_until_two_leads() <= 2 * LIFE_S


def test_who_cannot_lead_gives_it_back(rig: Rig) -> None:
    rig.one.broken = True
    with pytest.raises(OSError, match="no descriptors left"):
        rig.one.step()
    assert not rig.one.leads
    rig.two.step()
    assert rig.two.leads


@given(
    st.lists(
        st.tuples(st.sampled_from(["one", "two", "away", "back", "end"]), st.floats(0, 2 * LIFE_S)),
        max_size=60,
    )
)
def test_never_do_two_lead_at_once_while_the_clock_goes_right(
    things: list[tuple[str, float]],
) -> None:
    rig = Rig()
    for thing, passes_s in things:
        rig.passed_s += passes_s
        match thing:
            case "one":
                rig.one.step()
            case "two":
                rig.two.step()
            case "end":
                rig.leases.away = False
                rig.one.leadership.close()
            case _:
                rig.leases.away = thing == "away"
        assert not (rig.one.leads and rig.two.leads)
        for server in (rig.one, rig.two):
            assert len(server.terms) - server.over in (0, 1)
    epochs = [lease.epoch for server in (rig.one, rig.two) for lease in server.terms]
    assert len(set(epochs)) == len(epochs)
