"""What every implementation of ``ports.leases.Leases`` must do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.ports.leases import Leases

LIFE_S = 3600.0


class LeasesContract:
    """A subclass gives the fixture ``leases``: a lease that nobody ever had."""

    def test_nobody_leads_at_first(self, leases: Leases) -> None:
        assert leases.inspect() is None

    def test_who_takes_it_first_has_it(self, leases: Leases) -> None:
        taken = leases.take("a", "http://a", LIFE_S)
        assert taken is not None
        assert (taken.holder, taken.url, taken.epoch) == ("a", "http://a", 1)
        assert leases.take("b", "http://b", LIFE_S) is None
        seen = leases.inspect()
        assert seen is not None
        assert (seen.holder, seen.url, seen.epoch) == ("a", "http://a", 1)
        assert 0 < seen.left_s <= LIFE_S

    def test_it_isnt_taken_twice_even_by_its_holder(self, leases: Leases) -> None:
        assert leases.take("a", "http://a", LIFE_S) is not None
        assert leases.take("a", "http://a", LIFE_S) is None

    def test_it_can_be_renewed_by_its_holder_alone(self, leases: Leases) -> None:
        taken = leases.take("a", "http://a", LIFE_S)
        assert taken is not None
        renewed = leases.renew(taken, LIFE_S)
        assert renewed is not None
        assert renewed.epoch == taken.epoch
        leases.release(renewed)
        assert leases.take("b", "http://b", LIFE_S) is not None
        assert leases.renew(taken, LIFE_S) is None

    def test_what_is_given_back_is_free_at_once(self, leases: Leases) -> None:
        taken = leases.take("a", "http://a", LIFE_S)
        assert taken is not None
        leases.release(taken)
        seen = leases.inspect()
        assert seen is not None
        assert seen.holder == ""
        again = leases.take("b", "http://b", LIFE_S)
        assert again is not None
        assert again.epoch > taken.epoch

    def test_nobody_gives_back_what_is_anothers(self, leases: Leases) -> None:
        first = leases.take("a", "http://a", LIFE_S)
        assert first is not None
        leases.release(first)
        assert leases.take("b", "http://b", LIFE_S) is not None
        leases.release(first)
        seen = leases.inspect()
        assert seen is not None
        assert seen.holder == "b"

    def test_what_was_not_renewed_can_be_taken_whatever_the_clock_says(
        self, leases: Leases
    ) -> None:
        assert leases.take("a", "http://a", LIFE_S) is not None
        seen = leases.inspect()
        taken = leases.take("b", "http://b", LIFE_S, unrenewed=seen)
        assert taken is not None
        assert (taken.holder, taken.epoch) == ("b", 2)
        assert leases.take("c", "http://c", LIFE_S, unrenewed=seen) is None
