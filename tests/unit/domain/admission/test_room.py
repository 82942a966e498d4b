"""Never over what there is, whole or not at all, however the desk came to know."""

from __future__ import annotations

import pytest
from tests.unit.domain.admission.claims import HOUR, NOON, REGION, T4, a_claim, a_desk

from footplate.domain.admission.room import Room
from footplate.domain.amounts import JOBS, VCPUS
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quota, Quotas


def test_a_job_starts_whole_or_not_at_all() -> None:
    desk = a_desk()
    desk.hold(a_claim("running", 5), NOON)
    desk.wait(a_claim("gang", 4))
    assert desk.admit(NOON) == ()
    desk.leave(JobUid("running"))
    assert desk.admit(NOON + 1) == ("gang",)


@pytest.mark.parametrize("short", [{T4: 9, VCPUS: 1}, {T4: 1, VCPUS: 65}])
def test_one_that_is_larger_than_the_site_never_starts_and_holds_up_nobody(
    short: dict[str, int],
) -> None:
    desk = a_desk()
    desk.wait(a_claim("giant", holds=short, priority=9))
    desk.wait(a_claim("other", 8, arrived=NOON + 1))
    assert desk.admit(NOON + 1) == ("other",)
    desk.leave(JobUid("other"))
    assert desk.admit(NOON + 2) == ()


def test_a_job_that_asks_for_what_the_site_does_not_have_never_starts() -> None:
    desk = a_desk()
    desk.wait(a_claim("tpu", holds={"TPU_V2": 8}, line="TPU_V2"))
    assert desk.admit(NOON) == ()


def test_one_that_holds_nothing_of_the_site_starts() -> None:
    desk = a_desk()
    desk.hold(a_claim("running", 8), NOON)
    desk.wait(a_claim("light", holds={}))
    assert desk.admit(NOON) == ("light",)


def test_nothing_starts_while_more_is_held_than_there_is() -> None:
    desk = a_desk()
    desk.hold(a_claim("one", 6), NOON)
    desk.hold(a_claim("two", 6), NOON)
    desk.wait(a_claim("next", 4))
    desk.leave(JobUid("one"))
    desk.hold(a_claim("three", 6), NOON)
    assert desk.admit(NOON) == ()
    desk.leave(JobUid("two"))
    assert desk.admit(NOON) == ()
    desk.leave(JobUid("three"))
    assert desk.admit(NOON) == ("next",)


def test_what_is_said_twice_counts_once() -> None:
    desk = a_desk()
    claim = a_claim("running", 4)
    for _ in range(3):
        desk.hold(claim, NOON)
    desk.wait(a_claim("next", 4))
    desk.wait(a_claim("next", 4))
    assert desk.admit(NOON) == ("next",)
    desk.leave(claim.uid)
    desk.leave(claim.uid)
    desk.wait(a_claim("other", 5))
    assert desk.admit(NOON) == ()


def test_one_that_waits_may_turn_out_to_hold_and_one_that_holds_to_wait() -> None:
    desk = a_desk()
    claim = a_claim("job", 8)
    desk.wait(claim)
    desk.hold(claim, NOON)
    assert desk.waiting() == frozenset()
    assert desk.admit(NOON) == ()
    desk.wait(claim)
    assert desk.waiting() == {"job"}
    assert desk.admit(NOON) == ("job",)


def test_a_changed_claim_takes_its_new_place() -> None:
    desk = a_desk(NVIDIA_TESLA_T4=2)
    desk.wait(a_claim("job", 2))
    desk.wait(a_claim("other", 2, arrived=NOON + 1))
    desk.wait(a_claim("job", 2, arrived=NOON + 2))
    assert desk.admit(NOON + 2) == ("other",)


def test_never_over_the_quota_of_the_project_in_the_region() -> None:
    desk = a_desk(Quota("ads", REGION, {T4: 3}))
    for name in ("first", "second"):
        desk.wait(a_claim(name, 2))
    desk.wait(a_claim("elsewhere", 2, region="europe-west1"))
    desk.wait(a_claim("of_maps", 2, project="maps"))
    assert set(desk.admit(NOON)) == {"first", "elsewhere", "of_maps"}
    desk.leave(JobUid("first"))
    assert desk.admit(NOON) == ("second",)


def test_jobs_are_counted_too() -> None:
    desk = a_desk(Quota("*", "*", {JOBS: 1}))
    for name in ("first", "second"):
        desk.wait(a_claim(name))
    assert desk.admit(NOON) == ("first",)


def test_one_that_its_quota_holds_up_holds_up_nobody() -> None:
    desk = a_desk(Quota("ads", "*", {T4: 2}))
    desk.hold(a_claim("running", 2, longest_s=HOUR), NOON)
    desk.wait(a_claim("held_up", 2, priority=9))
    desk.wait(a_claim("other", 6, project="maps", longest_s=100 * HOUR))
    assert desk.admit(NOON) == ("other",)


def test_quotas_may_change() -> None:
    desk = a_desk(Quota("*", "*", {T4: 1}))
    desk.wait(a_claim("job", 2))
    assert desk.admit(NOON) == ()
    desk.set_quotas(Quotas((Quota("*", "*", {T4: 2}),)))
    assert desk.admit(NOON) == ("job",)
    desk.set_quotas(Quotas((Quota("*", "*", {T4: 1}),)))
    desk.wait(a_claim("other", 1))
    assert desk.admit(NOON) == ()
    desk.set_quotas(Quotas())
    assert desk.admit(NOON) == ("other",)
    desk.wait(a_claim("third", 6))
    desk.set_quotas(Quotas((Quota("*", "*", {JOBS: 2}),)))
    desk.leave(JobUid("other"))
    desk.hold(a_claim("fourth", 0), NOON)
    assert desk.admit(NOON) == ()


def test_what_counts_against_a_quota_can_be_asked_for() -> None:
    desk = a_desk()
    desk.hold(a_claim("one", 2), NOON)
    desk.wait(a_claim("two", 3))
    assert desk.held("ads", REGION) == {T4: 2, JOBS: 1}
    assert desk.held("maps", REGION) == {}


def test_a_site_where_nothing_has_changed_is_left_alone() -> None:
    desk = a_desk()
    desk.hold(a_claim("running", 8), NOON)
    desk.wait(a_claim("next", 8))
    assert desk.admit(NOON) == ()
    assert desk.admit(NOON + 1) == ()
    desk.leave(JobUid("running"))
    assert desk.admit(NOON + 2) == ("next",)


def test_projects_that_were_only_asked_about_leave_nothing_behind() -> None:
    room = Room({}, Quotas((Quota("*", "*", {JOBS: 2}),)))
    kept = room.open_account("kept", REGION, {JOBS: 1, VCPUS: 4})
    room.take(kept)
    for number in range(100):
        asked = room.open_account(f"project-{number}", REGION, {JOBS: 1, VCPUS: 4})
        assert room.fits(asked)
        room.close_account(f"project-{number}", REGION)

    assert len(room.free) == 4
    assert room.held_by("kept", REGION) == {JOBS: 1, VCPUS: 4}
    assert room.held_by("project-1", REGION) == {}


def test_a_desk_forgets_projects_without_jobs() -> None:
    desk = a_desk(Quota("*", "*", {JOBS: 1}))
    for number in range(3):
        claim = a_claim(f"job-{number}", project=f"project-{number}")
        desk.hold(claim, NOON)
        assert not desk.would_start(a_claim("next", project=f"project-{number}"), NOON)
        desk.leave(claim.uid)
        assert desk.held(f"project-{number}", REGION) == {}
        assert desk.would_start(a_claim("next", project=f"project-{number}"), NOON)
