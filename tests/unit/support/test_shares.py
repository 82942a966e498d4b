"""The shares of the long tests, and the order of all."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.selection import Selection
from tests.support.shares import ALL, LONG_S, choose_clients, divide, is_long, parse_share, share_of

COUNT = 4


def no_group(path: str) -> str | None:
    return None


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("none", set()),
        ("all", {1, 2, 3, 4}),
        ("3", {3}),
        ("commit", {0x1234567 % COUNT + 1}),
    ],
)
def test_a_share_is_named(text: str, shares: set[int]) -> None:
    assert parse_share(text, COUNT, "123456789") == shares


@pytest.mark.parametrize("text", ["", "0", "5", "-1", "x", "1,2", "None"])
def test_another_word_is_no_share(text: str) -> None:
    with pytest.raises(ValueError, match=f"SHARE={text}: it is none, all, commit, or a number"):
        parse_share(text, COUNT, "")


def test_long_is_what_takes_long_or_needs_an_engine() -> None:
    seconds = {"tests/a.py::test_long": LONG_S, "tests/a.py::test_short": LONG_S - 0.1}

    assert is_long("tests/a.py::test_long", seconds)
    assert not is_long("tests/a.py::test_short", seconds)
    assert not is_long("tests/a.py::test_new", seconds)
    assert is_long("tests/e2e/slurm/test_new.py::test_new", seconds)
    assert is_long("tests/clients/test_zero_change.py::test_new", seconds)
    assert is_long("tests/clients/test_new.py::test_new[a-1.71.1]", seconds)
    assert not is_long("tests/clients/test_new.py::test_new[a-2.7.0]", seconds)
    assert is_long("tests/a.py::test_new[more-7]", seconds)
    assert not is_long("tests/a.py::test_no_more", seconds)


@given(st.dictionaries(st.sampled_from([f"tests/{n}.py::t" for n in range(20)]), st.floats(10, 99)))
def test_each_file_has_one_share_and_none_is_much_longer(seconds: dict[str, float]) -> None:
    shares = divide(seconds, no_group, COUNT)

    assert set(shares) == {name.partition("::")[0] for name in seconds}
    sums = dict.fromkeys(range(1, COUNT + 1), 0.0)
    for name, each in seconds.items():
        sums[shares[name.partition("::")[0]]] += each
    assert max(sums.values()) - min(sums.values()) <= max(seconds.values(), default=0.0)


def test_a_group_is_spread_since_one_worker_runs_it() -> None:
    seconds = {f"tests/{n}.py::t": 20.0 for n in range(8)}

    shares = divide(seconds, lambda path: "one" if path < "tests/4" else None, COUNT)

    assert set(Counter(shares[f"tests/{n}.py"] for n in range(4)).values()) == {1}


def test_a_file_that_was_never_measured_has_a_share_too() -> None:
    assert share_of("tests/e2e/slurm/test_new.py", {}, COUNT) in range(1, COUNT + 1)
    assert share_of("tests/a.py", {"tests/a.py": 2}, COUNT) == 2


def test_each_long_test_runs_in_one_share() -> None:
    name = "tests/e2e/slurm/test_contract.py::test_a"
    runs = [
        n
        for n in range(1, 100)
        if n <= Selection(ALL).count and not Selection(str(n)).leaves_out(name)
    ]

    assert len(runs) == 1
    assert Selection("none").leaves_out(name)
    assert Selection("none").skips_file("tests/e2e/slurm/test_contract.py")
    assert not Selection("all").leaves_out(name)
    assert not Selection("none").leaves_out("tests/unit/test_settings.py::test_a")


def test_the_longest_come_first_and_a_group_stays_together() -> None:
    names = [
        "tests/unit/test_settings.py::test_a",
        "tests/console/test_job.py::test_a",
        "tests/e2e/service/test_queue.py::test_new",
        "tests/console/test_job.py::test_b",
        "tests/unit/test_settings.py::test_b",
    ]
    turns = Selection("none").order(names)

    ordered = sorted(names, key=lambda name: turns[name])

    assert ordered[-2:] == [names[0], names[4]]
    assert ordered.index(names[3]) == ordered.index(names[1]) + 1


def test_a_run_says_which_shares_it_has() -> None:
    said = Selection("2").describe()

    assert said.startswith(f"Long tests: of {Selection(ALL).count} shares 2 ran, and not 1, 3")
    assert (
        Selection("none")
        .describe()
        .startswith(f"Long tests: of {Selection(ALL).count} shares none")
    )
    assert Selection("all").describe() == f"Long tests: all {Selection(ALL).count} shares."


def test_a_commit_runs_one_client_of_other_projects_and_the_shares_run_each_once() -> None:
    names = ["a", "b", "c", "d", "e"]

    chosen = [
        choose_clients(names, "commit", frozenset({2}), COUNT, f"{number:07x}")
        for number in range(10)
    ]
    parts = [choose_clients(names, str(n), frozenset({n}), COUNT, "") for n in range(1, COUNT + 1)]

    assert [len(each) for each in chosen] == [1] * 10
    assert frozenset.union(*chosen) == set(names)
    assert sorted(name for part in parts for name in part) == names
    assert choose_clients(names, "none", frozenset(), COUNT, "") == frozenset()
    assert choose_clients([], "commit", frozenset({1}), COUNT, "123") == frozenset()
