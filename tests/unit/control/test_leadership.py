"""Who leads, and until when: two servers, one lease, clocks that tests set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.control.leadership import Leadership
from tests.support.leases import MemoryLeases

if TYPE_CHECKING:
    from footplate.ports.leases import Lease

LIFE_S = 9.0


class Server:
    def __init__(self, house: House, name: str) -> None:
        self._house = house
        self.terms: list[Lease] = []
        self.over = 0
        self.kept = 0
        self.broken = False
        url = f"http://{name}"
        self.leadership = Leadership(
            house.leases, name, url, LIFE_S, lambda: house.passed_s, self.begin, self.end, self.keep
        )

    def begin(self, lease: Lease) -> None:
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


class House:
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
def house() -> House:
    return House()


def test_the_first_leads_and_the_other_knows_where(house: House) -> None:
    known = [house.one.leadership.leader_url]
    house.one.step()
    due_s = house.two.step()
    assert [server.leads for server in (house.one, house.two)] == [True, False]
    assert [lease.epoch for lease in house.one.terms] == [1]
    known += [house.one.leadership.leader_url, house.two.leadership.leader_url]
    assert known == [None, "http://one", "http://one"]
    assert 0 < due_s <= LIFE_S / 3


def test_a_leader_that_renews_goes_on_leading(house: House) -> None:
    for _ in range(20):
        house.passed_s += house.one.step()
        house.two.step()
    assert house.one.leads
    assert (len(house.one.terms), house.one.over, house.two.terms) == (1, 0, [])
    assert house.one.kept == 19


def test_a_dead_leader_is_followed_when_its_lease_is_over(house: House) -> None:
    house.one.step()
    assert LIFE_S <= house.seconds_until_two_leads() <= LIFE_S * 1.1
    assert house.two.terms[0].epoch == 2


def test_a_leader_that_slept_is_none_before_it_has_noticed(house: House) -> None:
    house.one.step()
    house.passed_s += LIFE_S
    assert [server.leads for server in (house.one, house.two)] == [False, False]
    house.two.step()
    house.one.step()
    assert house.one.over == 1
    house.one.step()
    assert [server.leads for server in (house.one, house.two)] == [False, True]
    assert house.one.leadership.leader_url == "http://two"


def test_one_that_slept_and_was_not_missed_begins_anew(house: House) -> None:
    house.one.step()
    house.passed_s += LIFE_S
    assert house.one.step() == 0.0
    house.one.step()
    assert house.one.leads
    assert [lease.epoch for lease in house.one.terms] == [1, 2]
    assert house.one.over == 1


def test_an_end_in_order_lets_the_next_one_lead_at_once(house: House) -> None:
    house.one.step()
    house.two.step()
    house.one.leadership.close()
    assert (house.one.leads, house.one.over) == (False, 1)
    house.two.step()
    assert house.two.leads
    house.one.leadership.close()
    assert house.one.over == 1


def test_a_leader_without_a_database_stops_before_its_lease_is_over(house: House) -> None:
    house.one.step()
    house.leases.away = True
    began_s = house.passed_s
    while not house.one.over:
        house.passed_s += house.one.step()
    assert not house.one.leads
    assert house.passed_s - began_s <= LIFE_S * 1.1
    house.leases.away = False
    house.one.step()
    assert house.one.leads


def test_a_short_absence_of_the_database_changes_nothing(house: House) -> None:
    house.one.step()
    house.leases.away = True
    house.passed_s += house.one.step()
    house.leases.away = False
    house.one.step()
    assert (house.one.leads, house.one.over) == (True, 0)


def test_a_clock_that_is_set_back_keeps_no_dead_leader_alive(house: House) -> None:
    house.one.step()
    house.two.step()
    house.set_by_s -= 3600.0
    assert house.seconds_until_two_leads() <= 2 * LIFE_S


def test_who_cannot_lead_gives_it_back(house: House) -> None:
    house.one.broken = True
    with pytest.raises(OSError, match="no descriptors left"):
        house.one.step()
    assert not house.one.leads
    house.two.step()
    assert house.two.leads


@given(
    st.lists(
        st.tuples(st.sampled_from(["one", "two", "away", "back", "end"]), st.floats(0, 2 * LIFE_S)),
        max_size=60,
    )
)
def test_never_do_two_lead_at_once_while_the_clock_goes_right(
    things: list[tuple[str, float]],
) -> None:
    house = House()
    for thing, passes_s in things:
        house.passed_s += passes_s
        match thing:
            case "one":
                house.one.step()
            case "two":
                house.two.step()
            case "end":
                house.leases.away = False
                house.one.leadership.close()
            case _:
                house.leases.away = thing == "away"
        assert not (house.one.leads and house.two.leads)
        for server in (house.one, house.two):
            assert len(server.terms) - server.over in (0, 1)
    epochs = [lease.epoch for server in (house.one, house.two) for lease in server.terms]
    assert len(set(epochs)) == len(epochs)
