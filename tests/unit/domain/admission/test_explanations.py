"""Why a job waits, in sentences that are worth reading."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.admission import Claim, Explanation, Scheduler
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.resources import GPUS, JOBS, MEMORY_MB, REPLICAS, VCPUS
from tests.unit.domain.admission.claims import (
    HOUR,
    NOON,
    REGION,
    SITE,
    T4,
    V100,
    a_claim,
    a_scheduler,
)


def explained(scheduler: Scheduler, name: str, *variations: tuple[str, Claim]) -> Explanation:
    found = scheduler.explain(JobUid(name), NOON, variations)
    assert found is not None
    return found


def test_what_is_missing_who_holds_it_its_place_its_time_and_a_way_out() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("train_a", 4, longest_s=HOUR + 290), NOON)
    scheduler.hold(a_claim("train_b", 2, project="maps", longest_s=9 * HOUR), NOON)
    job = a_claim("job", 4, project="maps")
    scheduler.wait(job)
    scheduler.admit(NOON)
    two = replace(job, holds={T4: 2}, counts={T4: 2, JOBS: 1})
    one = replace(job, holds={T4: 1}, counts={T4: 1, JOBS: 1})
    found = explained(
        scheduler, "job", ("with 2 NVIDIA_TESLA_T4 instead of 4", two), ("with 1 instead of 4", one)
    )
    assert found.text == (
        "Waits for 4 NVIDIA_TESLA_T4 on this machine: 2 of 8 are free; train_a (project ads) "
        "holds 4 and train_b 2. The job is first in the line for NVIDIA_TESLA_T4. The job starts "
        "by 13:05 UTC at the latest, unless other jobs come before it. With 2 NVIDIA_TESLA_T4 "
        "instead of 4 the job would start now."
    )
    assert found.reason == "Waits for 4 NVIDIA_TESLA_T4 on this machine"
    assert found.place == 1
    assert found.starts_by == NOON + HOUR + 290


def test_the_place_in_the_line() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 8), NOON)
    for index in range(121):
        scheduler.wait(a_claim(f"job_{index:03}", arrived=NOON + index))
    ordinals = ("first", "2nd", "3rd", "4th", "11th", "12th", "21st", "111th", "121st")
    for ordinal, index in zip(ordinals, (0, 1, 2, 3, 10, 11, 20, 110, 120), strict=True):
        text = explained(scheduler, f"job_{index:03}").text
        assert f"The job is {ordinal} of 121 in the line for NVIDIA_TESLA_T4." in text


def test_only_the_largest_holders_are_named() -> None:
    scheduler = a_scheduler()
    for index in range(6):
        scheduler.hold(a_claim(f"job_{index}", 1), NOON)
    scheduler.hold(a_claim("large", 2), NOON)
    scheduler.wait(a_claim("job"))
    assert "none of 8 is free; large holds 2, job_0 1, job_1 1 and 4 others 4." in (
        explained(scheduler, "job").text
    )


@pytest.mark.parametrize(
    ("capacity", "asked", "sentence"),
    [
        (
            {REPLICAS: 4},
            {REPLICAS: 3},
            (
                "Waits for room for 3 replicas on this machine: the region runs 4 at most "
                "(max_replicas), and 2 are free; running holds 2."
            ),
        ),
        (
            {GPUS: 3},
            {GPUS: 2},
            "Waits for 2 GPUs on this machine: 1 of 3 is free; running holds 2.",
        ),
        (
            {VCPUS: 3},
            {VCPUS: 2},
            "Waits for 2 vCPUs on this machine: 1 of 3 is free; running holds 2.",
        ),
        (
            {MEMORY_MB: 65536},
            {MEMORY_MB: 64000},
            "Waits for 62.5 GB of memory on this machine: 62 of 64 GB are free; running",
        ),
    ],
)
def test_each_resource_in_its_own_words(
    capacity: dict[str, int], asked: dict[str, int], sentence: str
) -> None:
    scheduler = Scheduler({SITE: capacity}, Quotas())
    held = {name: 2048 if name == MEMORY_MB else 2 for name in capacity}
    scheduler.hold(a_claim("running", holds=held), NOON)
    scheduler.wait(a_claim("job", holds=asked, line=""))
    text = explained(scheduler, "job").text
    assert text.startswith(sentence)
    assert "The job is first in the line of jobs without accelerators." in text


def test_the_scarcest_comes_first_and_its_holders_are_named() -> None:
    scheduler = a_scheduler(vcpus=64)
    scheduler.hold(a_claim("cpus", holds={VCPUS: 60}, line=""), NOON)
    scheduler.hold(a_claim("gpus", 5), NOON)
    scheduler.wait(a_claim("job", holds={T4: 4, VCPUS: 16}))
    assert explained(scheduler, "job").text.startswith(
        "Waits for 16 vCPUs and 4 NVIDIA_TESLA_T4 on this machine: 4 of 64 vCPUs and 3 of 8 "
        "NVIDIA_TESLA_T4 are free; cpus holds 60 vCPUs."
    )


def test_a_quota_and_the_way_out() -> None:
    scheduler = a_scheduler(Quota("ads", "*", {T4: 6, JOBS: 9}))
    scheduler.hold(a_claim("running", 5), NOON)
    scheduler.wait(a_claim("job", 2))
    found = explained(scheduler, "job")
    assert found.text == (
        "Waits for the quota of project ads in us-central1: at most 6 NVIDIA_TESLA_T4 at once, 5 "
        "are held, and the job asks for 2. `footplate quotas set NVIDIA_TESLA_T4=7 --project=ads "
        "--region=us-central1` raises it. The job is first in the line for NVIDIA_TESLA_T4."
    )
    assert found.starts_by is None
    scheduler.set_quotas(Quotas((Quota("ads", REGION, {T4: 7}),)))
    assert scheduler.admit(NOON) == ("job",)


def test_a_quota_of_jobs() -> None:
    scheduler = a_scheduler(Quota("*", "*", {JOBS: 1}))
    scheduler.hold(a_claim("running"), NOON)
    scheduler.wait(a_claim("job"))
    assert explained(scheduler, "job").text.startswith(
        "Waits for the quota of project ads in us-central1: at most 1 job at once, and 1 has "
        "started. `footplate quotas set jobs=2 --project=ads --region=us-central1` raises it."
    )


def test_one_that_may_not_pass_is_told_whom_it_would_delay_and_how_short_it_must_be() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 6, longest_s=1.6 * HOUR), NOON)
    scheduler.wait(a_claim("big", 8, project="maps"))
    scheduler.wait(a_claim("small", 2, longest_s=2 * HOUR, arrived=NOON + 1))
    scheduler.admit(NOON)
    found = explained(scheduler, "small")
    assert found.text == (
        "There is room on this machine, but the job would delay big (project maps), which comes "
        "first and waits for 8 NVIDIA_TESLA_T4. The job is 2nd of 2 in the line for "
        "NVIDIA_TESLA_T4. With a running time of at most 96 minutes (maxRunningTime or timeout) "
        "the job would start now."
    )
    assert found.reason == "Waits for its turn: the job would delay jobs that come first"


def test_a_limit_of_less_than_a_minute_is_not_advised() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 6, longest_s=30), NOON)
    scheduler.wait(a_claim("big", 8, project="maps"))
    scheduler.wait(a_claim("small", 2, arrived=NOON + 1))
    scheduler.admit(NOON)
    text = explained(scheduler, "small").text
    assert "the job would delay big (project maps)" in text
    assert "With a running time" not in text


def test_one_that_can_never_start_here() -> None:
    scheduler = a_scheduler()
    scheduler.wait(a_claim("giant", holds={T4: 16, VCPUS: 96}))
    assert explained(scheduler, "giant").text == (
        "Can never start here: the job asks for 16 NVIDIA_TESLA_T4 and 96 vCPUs, and this "
        "machine has 8 NVIDIA_TESLA_T4 and 64 vCPUs in all."
    )


def test_one_that_is_about_to_start() -> None:
    scheduler = a_scheduler()
    scheduler.wait(a_claim("job"))
    assert explained(scheduler, "job") == Explanation(
        1, "Starts in a moment", "Starts in a moment."
    )


def test_who_does_not_wait_is_not_explained() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running"), NOON)
    assert scheduler.explain(JobUid("running"), NOON) is None
    assert scheduler.explain(JobUid("unknown"), NOON) is None


def test_no_time_is_said_where_no_limit_was_asked_for() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("bounded", 4, longest_s=HOUR), NOON)
    scheduler.hold(a_claim("default", 4, longest_s=9 * HOUR, bounded=False), NOON)
    scheduler.wait(a_claim("four", 4))
    assert explained(scheduler, "four").starts_by == NOON + HOUR
    scheduler.leave(JobUid("four"))
    scheduler.wait(a_claim("five", 5))
    found = explained(scheduler, "five")
    assert found.starts_by is None
    assert "UTC" not in found.text


def test_only_those_that_are_promised_a_moment_are_told_one() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 8, longest_s=HOUR), NOON)
    scheduler.wait(a_claim("first", 8))
    scheduler.wait(a_claim("second", 8, arrived=NOON + 1))
    assert explained(scheduler, "first").starts_by == NOON + HOUR
    assert explained(scheduler, "second").starts_by is None


def test_the_date_is_said_if_it_is_not_today() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 8, longest_s=30 * HOUR), NOON)
    scheduler.wait(a_claim("job"))
    assert ("The job starts by 2023-11-16 18:00 UTC at the latest") in explained(
        scheduler, "job"
    ).text


def test_the_reason_stays_while_the_same_is_missing() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("one", 4, longest_s=HOUR), NOON)
    scheduler.hold(a_claim("two", 3), NOON)
    scheduler.wait(a_claim("job", 8))
    before = explained(scheduler, "job")
    scheduler.leave(JobUid("one"))
    scheduler.wait(a_claim("other", 8, priority=1))
    after = explained(scheduler, "job")
    assert before.reason == after.reason
    assert before.text != after.text


def test_explaining_changes_nothing() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 6), NOON)
    scheduler.wait(a_claim("big", 8))
    scheduler.wait(a_claim("job", 2, longest_s=2 * HOUR, arrived=NOON + 1))
    for _ in range(2):
        explained(scheduler, "job", ("elsewhere", a_claim("job", holds={V100: 1}, line=V100)))
    assert scheduler.waiting() == {"big", "job"}
    assert scheduler.admit(NOON) == ()


def test_a_variation_must_fit_under_all_rules() -> None:
    scheduler = a_scheduler(Quota("ads", "*", {V100: 0}))
    scheduler.hold(a_claim("running", 6), NOON)
    scheduler.wait(a_claim("big", 8, project="maps"))
    scheduler.wait(a_claim("job", 4, longest_s=2 * HOUR, arrived=NOON + 1))
    found = explained(
        scheduler,
        "job",
        ("with 2 of them", a_claim("job", 2, longest_s=2 * HOUR, arrived=NOON + 1)),
        ("with V100", a_claim("job", holds={V100: 1}, line=V100)),
    )
    assert "would start now" not in found.text


def test_whether_an_unknown_job_would_start() -> None:
    scheduler = a_scheduler()
    scheduler.hold(a_claim("running", 6), NOON)
    assert scheduler.would_start(a_claim("new", 2), NOON)
    assert not scheduler.would_start(a_claim("new", 3), NOON)
    assert scheduler.waiting() == frozenset()
    assert scheduler.place(JobUid("new")) == 0
