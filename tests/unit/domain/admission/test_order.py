"""Who comes first."""

from __future__ import annotations

from footplate.domain.resources import VCPUS
from tests.unit.domain.admission.claims import HOUR, NOON, T4, V100, a_claim, a_scheduler


def test_first_come_first_served() -> None:
    scheduler = a_scheduler()
    for name, arrived in (("second", 2.0), ("third", 3.0), ("first", 1.0)):
        scheduler.wait(a_claim(name, 3, arrived=NOON + arrived))
    assert scheduler.admit(NOON + 4) == ("first", "second")


def test_of_two_that_come_at_once_the_id_decides() -> None:
    scheduler = a_scheduler()
    for name in ("b", "c", "a"):
        scheduler.wait(a_claim(name, 4))
    assert scheduler.admit(NOON) == ("a", "b")


def test_the_higher_priority_comes_first() -> None:
    scheduler = a_scheduler()
    scheduler.wait(a_claim("early", 8))
    scheduler.wait(a_claim("urgent", 8, priority=10, arrived=NOON + 60))
    assert scheduler.admit(NOON + 60) == ("urgent",)


def test_priority_does_not_count_between_lines() -> None:
    scheduler = a_scheduler(vcpus=8)
    scheduler.wait(a_claim("urgent", holds={T4: 1, VCPUS: 8}, priority=10, arrived=NOON + 60))
    scheduler.wait(a_claim("early", holds={V100: 1, VCPUS: 8}, line=V100))
    assert scheduler.admit(NOON + 60) == ("early",)


def test_the_project_that_holds_less_comes_first() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 4, project="ads"), NOON)
    scheduler.wait(a_claim("of_ads", 4, project="ads", arrived=NOON + 1))
    scheduler.wait(a_claim("of_maps", 4, project="maps", arrived=NOON + 2))
    assert scheduler.admit(NOON + 3) == ("of_maps",)


def test_a_share_is_the_largest_of_any_resource() -> None:
    scheduler = a_scheduler(vcpus=8)
    scheduler.hold(a_claim("many_cpus", holds={VCPUS: 6}, project="ads", line=""), NOON)
    scheduler.hold(a_claim("some_gpus", 4, project="maps"), NOON)
    scheduler.wait(a_claim("of_ads", 4, project="ads", arrived=NOON + 1))
    scheduler.wait(a_claim("of_maps", 4, project="maps", arrived=NOON + 2))
    assert scheduler.admit(NOON + 3) == ("of_maps",)


def test_shares_count_as_soon_as_somebody_starts() -> None:
    scheduler = a_scheduler()
    for index in range(4):
        scheduler.wait(a_claim(f"ads_{index}", 2, project="ads", arrived=NOON + index))
        scheduler.wait(a_claim(f"maps_{index}", 2, project="maps", arrived=NOON + 10 + index))
    assert scheduler.admit(NOON + 20) == ("ads_0", "maps_0", "ads_1", "maps_1")


def test_those_that_come_first_only_since_somebody_started_start_as_well() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("of_music", 5, project="music", longest_s=HOUR), NOON)
    scheduler.hold(a_claim("of_maps", 1, project="maps", longest_s=HOUR), NOON)
    # At first ads holds nothing, so that ads_big is promised all T4; then ads_other starts.
    scheduler.wait(a_claim("ads_big", 8, project="ads"))
    scheduler.wait(a_claim("ads_other", holds={V100: 4}, line=V100, arrived=NOON + 1))
    scheduler.wait(a_claim("maps_long", 2, project="maps", longest_s=9 * HOUR, arrived=NOON + 2))
    assert scheduler.admit(NOON + 2) == ("ads_other", "maps_long")


def test_higher_priority_beats_the_smaller_share() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 4, project="ads"), NOON)
    scheduler.wait(a_claim("of_ads", 4, project="ads", priority=1))
    scheduler.wait(a_claim("of_maps", 4, project="maps"))
    assert scheduler.admit(NOON) == ("of_ads",)


def test_who_has_waited_long_enough_yields_to_no_share() -> None:
    scheduler = a_scheduler(patience_s=HOUR)
    scheduler.hold(a_claim("running", 4, project="ads"), NOON)
    scheduler.wait(a_claim("of_ads", 4, project="ads"))
    scheduler.wait(a_claim("of_maps", 4, project="maps", arrived=NOON + HOUR))
    assert scheduler.admit(NOON + HOUR + 1) == ("of_ads",)


def test_a_site_is_looked_at_again_when_patience_runs_out() -> None:
    scheduler = a_scheduler(patience_s=HOUR)
    scheduler.hold(a_claim("running", 1, project="ads", longest_s=3 * HOUR), NOON)
    # maps_big holds less, so it comes first; of_ads would delay it, until it comes first itself.
    scheduler.wait(a_claim("maps_big", 8, project="maps", arrived=NOON + 60))
    scheduler.wait(a_claim("of_ads", 7, project="ads", longest_s=9 * HOUR, arrived=NOON))
    assert scheduler.admit(NOON + 60) == ()
    assert scheduler.admit(NOON + HOUR) == ()
    assert scheduler.admit(NOON + HOUR + 1) == ("of_ads",)


def test_places_are_by_priority_and_arrival_in_the_line() -> None:
    scheduler = a_scheduler(NVIDIA_TESLA_T4=0)
    scheduler.wait(a_claim("second", arrived=NOON + 1))
    scheduler.wait(a_claim("third", arrived=NOON + 2))
    scheduler.wait(a_claim("first", priority=5, arrived=NOON + 3))
    scheduler.wait(a_claim("elsewhere", holds={V100: 1}, line=V100))
    assert [scheduler.place(a_claim(name).uid) for name in ("first", "second", "third")] == [
        1,
        2,
        3,
    ]
    assert scheduler.place(a_claim("elsewhere").uid) == 1
    assert scheduler.place(a_claim("unknown").uid) == 0


def test_who_holds_has_no_place() -> None:
    scheduler = a_scheduler()
    claim = a_claim("running")
    scheduler.wait(claim)
    assert scheduler.place(claim.uid) == 1
    scheduler.admit(NOON)
    assert scheduler.place(claim.uid) == 0
    assert scheduler.waiting() == frozenset()
