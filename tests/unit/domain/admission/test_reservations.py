"""Who comes first and finds no room is promised a moment; others start only beside that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.admission import Scheduler
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quota
from footplate.domain.resources import JOBS, VCPUS
from tests.unit.domain.admission.claims import HOUR, NOON, T4, V100, a_claim, a_scheduler


def test_a_small_job_that_ends_in_time_passes_a_big_one() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 6, longest_s=HOUR), NOON)
    scheduler.wait(a_claim("big", 8))
    scheduler.wait(a_claim("small", 2, longest_s=HOUR, arrived=NOON + 1))
    assert scheduler.admit(NOON) == ("small",)


def test_one_that_might_delay_the_big_one_does_not_pass_it() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 6, longest_s=HOUR), NOON)
    scheduler.wait(a_claim("big", 8))
    scheduler.wait(a_claim("small", 2, longest_s=HOUR, arrived=NOON + 1))
    assert scheduler.admit(NOON + 1) == ()


@pytest.mark.parametrize(("t4", "starts"), [(1, ("long",)), (2, ("long",)), (3, ())])
def test_what_the_promised_one_leaves_over_may_be_taken_for_long(
    t4: int, starts: tuple[str, ...]
) -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 5, longest_s=HOUR), NOON)
    scheduler.wait(a_claim("big", 6))
    scheduler.wait(a_claim("long", t4, longest_s=100 * HOUR, arrived=NOON + 1))
    assert scheduler.admit(NOON) == starts


def test_what_is_left_over_can_be_taken_only_once() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 5, longest_s=HOUR), NOON)
    scheduler.wait(a_claim("big", 6))
    for index in range(3):
        scheduler.wait(a_claim(f"long_{index}", 1, longest_s=100 * HOUR, arrived=NOON + 1 + index))
    assert scheduler.admit(NOON) == ("long_0", "long_1")


def test_other_resources_than_the_promised_one_needs_are_free_to_take() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 6, longest_s=HOUR), NOON)
    scheduler.wait(a_claim("big", 8))
    scheduler.wait(a_claim("other", holds={V100: 4}, line=V100, longest_s=100 * HOUR))
    assert scheduler.admit(NOON) == ("other",)


def test_a_promise_holds_against_other_lines_as_well() -> None:
    scheduler = a_scheduler(vcpus=8)
    scheduler.hold(a_claim("running", holds={VCPUS: 4}, line="", longest_s=HOUR), NOON)
    scheduler.wait(a_claim("big", holds={T4: 1, VCPUS: 8}))
    scheduler.wait(
        a_claim("plain", holds={VCPUS: 4}, line="", longest_s=2 * HOUR, arrived=NOON + 1)
    )
    assert scheduler.admit(NOON) == ()


def test_the_big_one_starts_as_soon_as_there_is_room() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 6, longest_s=9 * HOUR), NOON)
    scheduler.wait(a_claim("big", 8))
    scheduler.wait(a_claim("small", 2, longest_s=HOUR, arrived=NOON + 1))
    assert scheduler.admit(NOON) == ("small",)
    scheduler.leave(JobUid("running"))
    assert scheduler.admit(NOON + 60) == ()
    scheduler.leave(JobUid("small"))
    assert scheduler.admit(NOON + 120) == ("big",)


def test_one_that_holds_longer_than_it_may_is_waited_for() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("overdue", 6, longest_s=HOUR), NOON - 2 * HOUR)
    scheduler.wait(a_claim("big", 8))
    scheduler.wait(a_claim("small", 2, longest_s=60.0, arrived=NOON + 1))
    assert scheduler.admit(NOON + 1) == ()


def test_a_promise_includes_the_quota_of_its_project() -> None:
    scheduler = a_scheduler(Quota("ads", "*", {T4: 4, V100: 4}))
    scheduler.hold(a_claim("running", 6, project="maps", longest_s=HOUR), NOON)
    scheduler.wait(a_claim("big", 4))
    scheduler.wait(a_claim("own", 1, longest_s=2 * HOUR, arrived=NOON + 1))
    scheduler.wait(a_claim("foreign", 1, project="music", longest_s=2 * HOUR, arrived=NOON + 2))
    assert scheduler.admit(NOON) == ("foreign",)


def moments(scheduler: Scheduler, *names: str) -> list[float | None]:
    found = (scheduler.explain(JobUid(name), NOON + 2) for name in names)
    return [explanation.starts_by for explanation in found if explanation is not None]


def test_lines_are_promised_room_beside_each_other() -> None:
    scheduler = a_scheduler(vcpus=8)
    scheduler.hold(a_claim("running", holds={VCPUS: 8}, line="", longest_s=HOUR), NOON)
    scheduler.wait(a_claim("first", holds={T4: 1, VCPUS: 6}))
    scheduler.wait(a_claim("second", holds={V100: 1, VCPUS: 4}, line=V100, arrived=NOON + 1))
    assert moments(scheduler, "first", "second") == [NOON + HOUR, NOON + 2 * HOUR]


def test_what_is_promised_is_not_free_while_it_is_held() -> None:
    scheduler = a_scheduler(vcpus=8)
    scheduler.hold(a_claim("running", holds={VCPUS: 8}, line="", longest_s=HOUR), NOON)
    scheduler.hold(a_claim("longer", holds={V100: 4}, line=V100, longest_s=1.5 * HOUR), NOON)
    scheduler.wait(a_claim("first", holds={T4: 1, VCPUS: 6}))
    scheduler.wait(a_claim("second", holds={V100: 1, VCPUS: 4}, line=V100, arrived=NOON + 1))
    assert moments(scheduler, "first", "second") == [NOON + HOUR, NOON + 2 * HOUR]


def test_a_later_promise_keeps_clear_of_an_earlier_one() -> None:
    scheduler = a_scheduler(vcpus=8)
    scheduler.hold(a_claim("running", holds={VCPUS: 4}, line="", longest_s=HOUR), NOON)
    scheduler.hold(a_claim("shorter", holds={VCPUS: 4}, line="", longest_s=HOUR / 2), NOON)
    scheduler.wait(a_claim("first", holds={T4: 1, VCPUS: 8}))
    scheduler.wait(a_claim("second", holds={V100: 1, VCPUS: 4}, line=V100, arrived=NOON + 1))
    assert moments(scheduler, "first", "second") == [NOON + HOUR, NOON + 2 * HOUR]


def test_promises_are_made_in_the_order_that_the_starts_have_led_to() -> None:
    scheduler = a_scheduler(vcpus=8, NVIDIA_TESLA_V100=2)
    scheduler.hold(a_claim("of_maps", 2, project="maps", longest_s=9 * HOUR), NOON)
    scheduler.wait(a_claim("a_v100", holds={V100: 1, VCPUS: 1}, line=V100, longest_s=5 * HOUR))
    scheduler.wait(a_claim("b_urgent", holds={VCPUS: 2}, line="", priority=7, longest_s=5 * HOUR))
    # Its turn comes before that of music's, which b_urgent hides until it has started.
    v100s = a_claim("v100s", holds={V100: 2, VCPUS: 4}, line=V100, project="maps", arrived=NOON - 3)
    scheduler.wait(v100s)
    scheduler.wait(a_claim("cpus", holds={VCPUS: 8}, line="", project="music"))
    assert moments(scheduler, "cpus", "v100s") == [NOON + 2 + 5 * HOUR, NOON + 2 + 6 * HOUR]


def test_one_whose_quota_others_have_used_up_meanwhile_is_promised_nothing() -> None:
    scheduler = a_scheduler(Quota("ads", "*", {JOBS: 1}), patience_s=0.0)
    scheduler.hold(a_claim("running", 6, project="maps", longest_s=HOUR), NOON)
    scheduler.wait(a_claim("big", holds={T4: 8, VCPUS: 64}))
    scheduler.wait(a_claim("small", 2, longest_s=HOUR / 2, arrived=NOON + 1))
    long = a_claim("long", holds={VCPUS: 60}, line="", project="music", longest_s=9 * HOUR)
    scheduler.wait(replace(long, arrived=NOON + 2))
    assert scheduler.admit(NOON + 3) == ("small", "long")


def test_whoever_comes_before_takes_over_the_promise_of_the_line() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", holds={T4: 6, VCPUS: 1}), NOON)
    scheduler.wait(a_claim("big", 8))
    scheduler.wait(a_claim("small", 2, longest_s=9 * HOUR, arrived=NOON + 1))
    assert scheduler.admit(NOON + 1) == ()
    scheduler.wait(a_claim("urgent", holds={VCPUS: 64}, priority=9, arrived=NOON + 2))
    assert scheduler.admit(NOON + 2) == ("small",)


def test_a_job_without_end_promises_nothing_and_others_may_pass() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("endless", 6, longest_s=float("inf")), NOON)
    scheduler.wait(a_claim("big", 8))
    scheduler.wait(a_claim("small", 2, arrived=NOON + 1))
    assert scheduler.admit(NOON) == ("small",)
