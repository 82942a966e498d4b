"""Never over what there is, whole or not at all, however the scheduler came to know."""

from __future__ import annotations

import pytest

from footplate.domain.names import JobUid
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.resources import JOBS, VCPUS
from tests.unit.domain.admission.claims import HOUR, NOON, REGION, T4, a_claim, a_scheduler


def test_a_job_starts_whole_or_not_at_all() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 5), NOON)
    scheduler.wait(a_claim("gang", 4))
    assert scheduler.admit(NOON) == ()
    scheduler.leave(JobUid("running"))
    assert scheduler.admit(NOON + 1) == ("gang",)


@pytest.mark.parametrize("short", [{T4: 9, VCPUS: 1}, {T4: 1, VCPUS: 65}])
def test_one_that_is_larger_than_the_site_never_starts_and_holds_up_nobody(
    short: dict[str, int],
) -> None:
    scheduler = a_scheduler()
    scheduler.wait(a_claim("giant", holds=short, priority=9))
    scheduler.wait(a_claim("other", 8, arrived=NOON + 1))
    assert scheduler.admit(NOON + 1) == ("other",)
    scheduler.leave(JobUid("other"))
    assert scheduler.admit(NOON + 2) == ()


def test_a_job_that_asks_for_what_the_site_does_not_have_never_starts() -> None:
    scheduler = a_scheduler()
    scheduler.wait(a_claim("tpu", holds={"TPU_V2": 8}, line="TPU_V2"))
    assert scheduler.admit(NOON) == ()


def test_one_that_holds_nothing_of_the_site_starts() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 8), NOON)
    scheduler.wait(a_claim("light", holds={}))
    assert scheduler.admit(NOON) == ("light",)


def test_nothing_starts_while_more_is_held_than_there_is() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("one", 6), NOON)
    scheduler.hold(a_claim("two", 6), NOON)
    scheduler.wait(a_claim("next", 4))
    scheduler.leave(JobUid("one"))
    scheduler.hold(a_claim("three", 6), NOON)
    assert scheduler.admit(NOON) == ()
    scheduler.leave(JobUid("two"))
    assert scheduler.admit(NOON) == ()
    scheduler.leave(JobUid("three"))
    assert scheduler.admit(NOON) == ("next",)


def test_what_is_said_twice_counts_once() -> None:
    scheduler = a_scheduler()
    claim = a_claim("running", 4)
    for _ in range(3):
        scheduler.hold(claim, NOON)
    scheduler.wait(a_claim("next", 4))
    scheduler.wait(a_claim("next", 4))
    assert scheduler.admit(NOON) == ("next",)
    scheduler.leave(claim.uid)
    scheduler.leave(claim.uid)
    scheduler.wait(a_claim("other", 5))
    assert scheduler.admit(NOON) == ()


def test_one_that_waits_may_turn_out_to_hold_and_one_that_holds_to_wait() -> None:
    scheduler = a_scheduler()
    claim = a_claim("job", 8)
    scheduler.wait(claim)
    scheduler.hold(claim, NOON)
    assert scheduler.waiting() == frozenset()
    assert scheduler.admit(NOON) == ()
    scheduler.wait(claim)
    assert scheduler.waiting() == {"job"}
    assert scheduler.admit(NOON) == ("job",)


def test_a_changed_claim_takes_its_new_place() -> None:
    scheduler = a_scheduler(NVIDIA_TESLA_T4=2)
    scheduler.wait(a_claim("job", 2))
    scheduler.wait(a_claim("other", 2, arrived=NOON + 1))
    scheduler.wait(a_claim("job", 2, arrived=NOON + 2))
    assert scheduler.admit(NOON + 2) == ("other",)


def test_never_over_the_quota_of_the_project_in_the_region() -> None:
    scheduler = a_scheduler(Quota("ads", REGION, {T4: 3}))
    for name in ("first", "second"):
        scheduler.wait(a_claim(name, 2))
    scheduler.wait(a_claim("elsewhere", 2, region="europe-west1"))
    scheduler.wait(a_claim("of_maps", 2, project="maps"))
    assert set(scheduler.admit(NOON)) == {"first", "elsewhere", "of_maps"}
    scheduler.leave(JobUid("first"))
    assert scheduler.admit(NOON) == ("second",)


def test_jobs_are_counted_too() -> None:
    scheduler = a_scheduler(Quota("*", "*", {JOBS: 1}))
    for name in ("first", "second"):
        scheduler.wait(a_claim(name))
    assert scheduler.admit(NOON) == ("first",)


def test_one_that_its_quota_holds_up_holds_up_nobody() -> None:
    scheduler = a_scheduler(Quota("ads", "*", {T4: 2}))
    scheduler.hold(a_claim("running", 2, longest_s=HOUR), NOON)
    scheduler.wait(a_claim("held_up", 2, priority=9))
    scheduler.wait(a_claim("other", 6, project="maps", longest_s=100 * HOUR))
    assert scheduler.admit(NOON) == ("other",)


def test_quotas_may_change() -> None:
    scheduler = a_scheduler(Quota("*", "*", {T4: 1}))
    scheduler.wait(a_claim("job", 2))
    assert scheduler.admit(NOON) == ()
    scheduler.set_quotas(Quotas((Quota("*", "*", {T4: 2}),)))
    assert scheduler.admit(NOON) == ("job",)
    scheduler.set_quotas(Quotas((Quota("*", "*", {T4: 1}),)))
    scheduler.wait(a_claim("other", 1))
    assert scheduler.admit(NOON) == ()
    scheduler.set_quotas(Quotas())
    assert scheduler.admit(NOON) == ("other",)
    scheduler.wait(a_claim("third", 6))
    scheduler.set_quotas(Quotas((Quota("*", "*", {JOBS: 2}),)))
    scheduler.leave(JobUid("other"))
    scheduler.hold(a_claim("fourth", 0), NOON)
    assert scheduler.admit(NOON) == ()


def test_what_counts_against_a_quota_can_be_asked_for() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("one", 2), NOON)
    scheduler.wait(a_claim("two", 3))
    assert scheduler.held("ads", REGION) == {T4: 2, JOBS: 1}
    assert scheduler.held("maps", REGION) == {}


def test_a_scheduler_forgets_projects_without_jobs() -> None:
    scheduler = a_scheduler(Quota("*", "*", {JOBS: 1}))
    for number in range(3):
        claim = a_claim(f"job-{number}", project=f"project-{number}")
        scheduler.hold(claim, NOON)
        assert not scheduler.would_start(a_claim("next", project=f"project-{number}"), NOON)
        scheduler.leave(claim.uid)
        assert scheduler.held(f"project-{number}", REGION) == {}
        assert scheduler.would_start(a_claim("next", project=f"project-{number}"), NOON)
