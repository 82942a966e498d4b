from __future__ import annotations

from footplate.control.turns import Turns
from footplate.domain.names import JobUid


def test_a_job_has_one_turn_at_a_time() -> None:
    turns = Turns()
    with turns.of(JobUid("a")):
        assert not turns.of(JobUid("a")).acquire(blocking=False)
    assert turns.of(JobUid("a")).acquire(blocking=False)


def test_most_other_jobs_have_theirs_meanwhile() -> None:
    turns = Turns()
    others = [JobUid(f"job-{number}") for number in range(1000)]
    with turns.of(JobUid("a")):
        free = [uid for uid in others if not turns.of(uid).locked()]
    assert len(free) > len(others) / 2
