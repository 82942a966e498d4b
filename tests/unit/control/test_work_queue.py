"""Which jobs a pass looks at."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from footplate.control.work_queue import MOST_NOTED, WorkQueue
from footplate.domain.names import JobUid

A, B, C = JobUid("a"), JobUid("b"), JobUid("c")
SWEEP_S = 10.0


def swept(now: float = 100.0) -> WorkQueue:
    """One that has just looked at everything."""
    work_queue = WorkQueue(SWEEP_S)
    assert work_queue.take(now) is None
    work_queue.sweep(now)
    return work_queue


def test_at_first_everything_is_looked_at() -> None:
    assert WorkQueue().take(0.0) is None


def test_what_was_noted_is_looked_at_once_and_in_order() -> None:
    work_queue = swept()
    for uid in (B, A, B):
        work_queue.note(uid)

    assert work_queue.take(101.0) == (B, A)
    assert work_queue.take(101.0) == ()


def test_a_job_is_looked_at_when_its_time_has_come_and_not_before() -> None:
    work_queue = swept()
    work_queue.put(A, 103.0)
    work_queue.put(B, 105.0)
    assert work_queue.next() == 103.0
    assert work_queue.take(102.9) == ()

    assert work_queue.take(103.0) == (A,)
    assert work_queue.next() == 105.0
    work_queue.put(B, None)
    assert work_queue.next() == 100.0 + SWEEP_S
    assert work_queue.take(106.0) == ()


def test_of_a_job_that_is_due_and_noted_there_is_one_look() -> None:
    work_queue = swept()
    work_queue.put(A, 101.0)
    work_queue.note(A)

    assert work_queue.take(101.0) == (A,)


def test_what_is_dropped_is_not_looked_at() -> None:
    work_queue = swept()
    work_queue.put(A, 101.0)
    work_queue.drop(A)

    assert work_queue.take(102.0) == ()


def test_now_and_then_everything_is_looked_at() -> None:
    work_queue = swept(100.0)
    assert work_queue.take(109.9) == ()
    assert work_queue.take(110.0) is None


def test_everything_is_looked_at_where_anything_may_have_happened() -> None:
    work_queue = swept()
    work_queue.note(A)
    work_queue.note_all()

    assert work_queue.take(101.0) is None
    assert work_queue.take(101.0) == ()


def test_more_news_than_anybody_takes_does_not_fill_the_memory() -> None:
    work_queue = swept()
    for number in range(MOST_NOTED + 1):
        work_queue.note(JobUid(f"job{number}"))

    assert work_queue.take(101.0) is None


def test_a_scale_that_is_set_back_means_nothing_any_more() -> None:
    work_queue = swept(100.0)
    work_queue.put(A, 105.0)
    work_queue.take(104.0)

    assert work_queue.take(50.0) is None


def test_news_that_comes_while_others_are_taken_is_for_one_of_them() -> None:
    work_queue = swept()
    taken: list[JobUid] = []
    uids = [JobUid(f"job{number}") for number in range(3000)]
    done = threading.Event()

    def bring() -> None:
        for uid in uids:
            work_queue.note(uid)
        done.set()

    thread = threading.Thread(target=bring)
    thread.start()
    while not done.is_set():
        taken += work_queue.take(101.0) or ()
    thread.join()
    taken += work_queue.take(101.0) or ()

    assert taken == uids


def test_a_write_that_was_acted_on_needs_no_other_look() -> None:
    work_queue = swept()
    for uid, version in ((A, 3), (B, 5), (C, 3)):
        work_queue.note(uid, version)
    work_queue.note(C)
    for uid in (A, B, C):
        work_queue.settle(uid, 4)

    assert work_queue.take(101.0) == (B, C), "B was written since, and of C there was other news"


@given(
    st.lists(st.tuples(st.sampled_from([A, B, C]), st.one_of(st.none(), st.integers(1, 30)))),
    st.integers(1, 40),
)
def test_nobody_is_due_later_than_the_next_pass(
    puts: list[tuple[JobUid, int | None]], later_s: int
) -> None:
    work_queue = swept(0.0)
    for uid, moment in puts:
        work_queue.put(uid, moment)
    dues = {uid: moment for uid, moment in puts if moment is not None and dict(puts)[uid] == moment}

    assert work_queue.next() == min([*dues.values(), SWEEP_S])
    taken = work_queue.take(float(later_s))
    if later_s >= SWEEP_S:
        assert taken is None
    else:
        assert set(taken or ()) == {uid for uid, moment in dues.items() if moment <= later_s}
