"""The scheduler starts the jobs that the plain rules start, in random histories."""

from __future__ import annotations

import pytest

from tests.support.profiles import scaled
from tests.unit.domain.admission.random_histories import History


def test_a_job_that_may_start_is_started_at_once() -> None:
    """A job that came in this history was started only when something else changed."""
    assert History(539, hostile=False).difference(40) is None


@pytest.mark.parametrize("seed", [2380, 52582])
def test_jobs_that_a_quota_holds_up_take_their_turns(seed: int) -> None:
    """In these, the jobs of a group weren't passed one by one."""
    assert History(seed, hostile=True).difference(100) is None


def test_jobs_outlive_their_time_quotas_change_and_sites_shrink() -> None:
    differences = (History(seed, hostile=True).difference(100) for seed in range(scaled(40)))
    assert [each for each in differences if each] == []
