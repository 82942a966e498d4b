from __future__ import annotations

from footplate.control.job_locks import JobLocks
from footplate.domain.names import JobUid


def test_a_job_has_one_turn_at_a_time() -> None:
    job_locks = JobLocks()
    with job_locks.of(JobUid("a")):
        assert not job_locks.of(JobUid("a")).acquire(blocking=False)
    assert job_locks.of(JobUid("a")).acquire(blocking=False)


def test_most_other_jobs_have_theirs_meanwhile() -> None:
    job_locks = JobLocks()
    others = [JobUid(f"job-{number}") for number in range(1000)]
    with job_locks.of(JobUid("a")):
        free = [uid for uid in others if not job_locks.of(uid).locked()]
    assert len(free) > len(others) / 2
