from __future__ import annotations

import gc
import weakref

from hypothesis import given
from hypothesis import strategies as st

from footplate.control.deadlines import Deadlines
from footplate.domain.names import JobUid

A, B = JobUid("a"), JobUid("b")


def test_the_earliest_comes_first_and_only_what_is_due_is_taken() -> None:
    deadlines = Deadlines()
    deadlines.put(A, 20.0)
    deadlines.put(B, 10.0)

    assert deadlines.next() == 10.0
    assert deadlines.take_due(9.9) == ()
    assert deadlines.take_due(10.0) == (B,)
    assert deadlines.take_due(10.0) == ()
    assert deadlines.next() == 20.0


def test_a_job_has_one_moment_and_may_lose_it() -> None:
    deadlines = Deadlines()
    deadlines.put(A, 10.0)
    deadlines.put(A, 30.0)
    deadlines.put(B, 20.0)
    deadlines.drop(B)
    deadlines.drop(B)

    assert deadlines.take_due(25.0) == ()
    assert deadlines.next() == 30.0


def test_a_late_moment_that_was_dropped_is_not_kept_behind_an_early_one() -> None:
    class Name(str):
        """A job whose end can be seen."""

    deadlines = Deadlines()
    deadlines.put(A, 10.0)
    late = Name("late")
    seen = weakref.ref(late)
    deadlines.put(JobUid(late), 1e9)
    deadlines.drop(JobUid(late))
    del late
    for number in range(3000):
        uid = JobUid(f"job{number}")
        deadlines.put(uid, 1e9 + number)
        deadlines.drop(uid)

    gc.collect()
    assert seen() is None
    assert deadlines.take_due(2e9) == (A,)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.one_of(st.none(), st.integers(0, 9)))))
def test_it_is_a_dictionary_that_knows_its_least_value(steps: list[tuple[str, int | None]]) -> None:
    deadlines, model = Deadlines(), dict[str, int]()
    for name, moment in steps:
        if moment is None:
            deadlines.drop(JobUid(name))
            model.pop(name, None)
        else:
            deadlines.put(JobUid(name), moment)
            model[name] = moment
        assert deadlines.next() == min(model.values(), default=None)
    due = sorted((moment, name) for name, moment in model.items() if moment <= 5)
    assert deadlines.take_due(5) == tuple(name for _, name in due)
