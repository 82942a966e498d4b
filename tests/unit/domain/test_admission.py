from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.admission import admit, queue, size
from footplate.domain.jobs import Job, Scheduling
from footplate.domain.states import State
from footplate.testing.jobs import make_job, make_spec


def job(index: int, *, replicas: int = 1, priority: int = 0, state: State = State.QUEUED) -> Job:
    spec = make_spec(workers=replicas - 1, scheduling=Scheduling(priority=priority))
    return make_job(f"projects/demo/jobs/job_{index}", spec=spec, state=state)


jobs = st.lists(
    st.tuples(st.integers(1, 5), st.integers(0, 2), st.sampled_from([State.QUEUED, State.RUNNING])),
    max_size=12,
).map(lambda rows: [job(i, replicas=n, priority=p, state=s) for i, (n, p, s) in enumerate(rows)])


@given(jobs, st.integers(1, 12))
def test_never_over_capacity_but_for_a_giant_that_is_alone(
    active: list[Job], capacity: int
) -> None:
    chosen = admit(active, capacity)
    held = [j for j in active if j.state is not State.QUEUED or j.uid in chosen]

    before = sum(size(j) for j in active if j.state is not State.QUEUED)
    assert not chosen or sum(map(size, held)) <= capacity or len(held) == 1
    assert before < capacity or not chosen


@given(jobs, st.integers(1, 12))
def test_nobody_passes_a_job_that_waits(active: list[Job], capacity: int) -> None:
    order = [j.uid for j in queue(active)]

    assert list(admit(active, capacity)) == order[: len(admit(active, capacity))]


@given(jobs, st.integers(1, 12))
def test_a_free_machine_always_takes_the_next_job(active: list[Job], capacity: int) -> None:
    queued = [replace(j, state=State.QUEUED) for j in active]

    assert bool(admit(queued, capacity)) == bool(queued)


def test_priority_comes_first() -> None:
    active = [job(1), job(2, priority=5), job(3, priority=5)]

    assert admit(active, 2) == (active[1].uid, active[2].uid)
