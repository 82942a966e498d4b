from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.stacks import (
    Comparison,
    Dump,
    Frame,
    Missing,
    Process,
    Thread,
    compare,
    is_near,
    shared,
)

MODULE = Frame("<module>", "trainer/task.py", 40)
WAITING = (Frame("all_reduce", "dist.py", 5), Frame("train", "trainer/task.py", 13), MODULE)
LOADING = (Frame("load", "trainer/data.py", 2), Frame("train", "trainer/task.py", 12), MODULE)


def dump(*frames: Frame, **fields: object) -> Dump:
    threads = (Thread("MainThread", frames), Thread("other", (MODULE,)))
    return Dump((Process(7, "python -m trainer", True, threads=threads, **fields),))  # type: ignore[arg-type]  # of a process


def names(members: object) -> list[str]:
    return [member.replica for member in members]  # type: ignore[attr-defined]  # they are members


def test_whoever_is_elsewhere_differs_from_the_majority() -> None:
    told = {"w-0": dump(*WAITING), "w-1": dump(*LOADING), "w-2": dump(*WAITING)}
    comparison = compare(told, ())
    assert [names(place.members) for place in comparison.places] == [["w-0", "w-2"], ["w-1"]]
    assert comparison.majority


class Counted(Frame):
    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return super().__eq__(other)

    __hash__ = Frame.__hash__


def test_many_places_deep_in_the_same_code_are_soon_told_apart() -> None:
    def frames(number: int) -> tuple[Frame, ...]:
        own = tuple(Counted(f"own_{number}_{call}", "own.py", 1) for call in range(4))
        return (*own, *(Counted(f"call_{call}", "trainer/task.py", call) for call in range(100)))

    comparison = compare({f"w-{number}": dump(*frames(number)) for number in range(60)}, ())
    assert len(comparison.places) == 60
    assert Counted.compared < 20_000


def test_half_of_them_are_no_majority() -> None:
    told = {"w-0": dump(*LOADING), "w-1": dump(*WAITING)}
    comparison = compare(told, ())
    assert [names(place.members) for place in comparison.places] == [["w-0"], ["w-1"]]
    assert not comparison.majority


def test_one_alone_has_nobody_to_differ_from() -> None:
    assert not compare({"w-0": dump(*WAITING)}, ()).majority
    assert compare({}, ()).places == ()


@pytest.mark.parametrize(
    "other",
    [
        (Frame("all_reduce", "dist.py", 6), *WAITING[1:]),
        (Frame("poll", "dist.py", 90), *WAITING),
        (Frame("select", "selectors.py", 1), Frame("poll", "dist.py", 90), *WAITING),
    ],
)
def test_a_moment_of_a_waiting_loop_is_the_same_place(other: tuple[Frame, ...]) -> None:
    told = {"w-0": dump(*WAITING), "w-1": dump(*other), "w-2": dump(*WAITING)}
    comparison = compare(told, ())
    assert [names(place.members) for place in comparison.places] == [["w-0", "w-2", "w-1"]]
    assert [names(spot.members) for spot in comparison.places[0].spots] == [["w-0", "w-2"], ["w-1"]]


@pytest.mark.parametrize(
    "other",
    [
        LOADING,
        (Frame("load", "trainer/data.py", 2), *WAITING[1:]),
        (Frame("all_reduce", "other.py", 5), *WAITING[1:]),
        (WAITING[0], Frame("train", "trainer/task.py", 99), MODULE),
        (Frame("a", "a", 1), Frame("b", "b", 1), Frame("c", "c", 1), *WAITING),
    ],
)
def test_another_function_or_another_way_there_is_another_place(other: tuple[Frame, ...]) -> None:
    assert not is_near(WAITING, other)
    assert not is_near(other, WAITING)


def test_children_are_compared_among_themselves() -> None:
    loader = Process(8, "python", False, threads=(Thread("MainThread", LOADING),))
    told = {name: Dump((*dump(*WAITING).processes, loader, loader)) for name in ("w-0", "w-1")}
    comparison = compare(told, ())
    assert [names(place.members) for place in comparison.places] == [["w-0", "w-1"]]
    assert [names(place.members) for place in comparison.children] == [["w-0", "w-0", "w-1", "w-1"]]


def test_who_says_nothing_is_missing_with_the_reason() -> None:
    broken = Dump((Process(7, "python", True, error="not permitted"),))
    empty = Dump((Process(9, "python", True, threads=(Thread("MainThread", ()),)),))
    silent = Missing("w-0", "no answer within 10 s")
    assert compare({"w-1": broken, "w-2": empty}, [silent]).missing == (
        silent,
        Missing("w-1", "process 7: not permitted"),
        Missing("w-2", "process 9: the process runs no Python code"),
    )


FRAMES = st.builds(
    Frame, st.sampled_from("abc"), st.sampled_from(("x.py", "y.py")), st.integers(1, 2)
)
STACKS = st.lists(FRAMES, max_size=4).map(tuple)
PROCESSES = st.builds(
    Process,
    st.integers(1, 99),
    st.just("python"),
    st.booleans(),
    threads=STACKS.map(lambda frames: (Thread("MainThread", frames),)) | st.just(()),
)
DUMPS = st.dictionaries(
    st.sampled_from([f"w-{number}" for number in range(8)]),
    st.lists(PROCESSES, max_size=3).map(lambda found: Dump(tuple(found))),
)


@given(DUMPS)
def test_each_process_is_told_of_once(dumps: dict[str, Dump]) -> None:
    comparison = compare(dumps, ())
    told = [m for p in (*comparison.places, *comparison.children) for m in p.members]
    processes = [process for dump in dumps.values() for process in dump.processes]
    assert len(told) + len(comparison.missing) == len(processes)


@given(DUMPS)
def test_places_are_ordered_by_their_crowds_and_a_majority_is_one(dumps: dict[str, Dump]) -> None:
    comparison = compare(dumps, ())
    counted = [len(place.members) for place in comparison.places]
    assert counted == sorted(counted, reverse=True)
    for place in (*comparison.places, *comparison.children):
        counts = [len(spot.members) for spot in place.spots]
        assert counts == sorted(counts, reverse=True)
        assert all(is_near(place.spots[0].frames, spot.frames) for spot in place.spots[1:])
    assert comparison.majority == (sum(counted) > 1 and 2 * counted[0] > sum(counted))


@given(DUMPS)
def test_the_order_of_the_replicas_decides_no_crowd(dumps: dict[str, Dump]) -> None:
    reordered = dict(reversed(dumps.items()))
    assert crowds(compare(reordered, ())) == crowds(compare(dumps, ()))


def crowds(comparison: Comparison) -> list[int]:
    """Of those at the very same frames."""
    return sorted(len(spot.members) for place in comparison.places for spot in place.spots)


@given(STACKS, STACKS)
def test_what_is_shared_is_the_same_seen_from_both_sides(
    one: tuple[Frame, ...], other: tuple[Frame, ...]
) -> None:
    same = shared(one, other)
    assert same == shared(other, one)
    assert one[len(one) - same :] == other[len(other) - same :]
    assert is_near(one, other) == is_near(other, one)
