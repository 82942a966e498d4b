"""What tests took, what is committed of it, and what is said of tests that take too long."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.durations import exists, folder_of, load, merge, plain_name, record, slowdown
from tools.durations import collect, find_excesses

BUDGETS = {"shares": 2, "share_s": 100, "new_test_s": 5, "folders": {"tests/api": 10}}


@pytest.mark.parametrize(
    ("failed", "name"),
    [
        ("tests/a.py::test_b", "tests/a.py::test_b"),
        ("tests/a.py::test_b@engines", "tests/a.py::test_b"),
        ("tests/a.py::test_b[x@y]", "tests/a.py::test_b[x@y]"),
        ("tests/a.py::test_b[x@y]@engines", "tests/a.py::test_b[x@y]"),
        ("tests/a.py", "tests/a.py"),
    ],
)
def test_the_group_is_left_out(failed: str, name: str) -> None:
    assert plain_name(failed) == name


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("tests/api/faces/test_a.py::test_b[x/y]", "tests/api"),
        ("tests/e2e/service/test_a.py::test_b", "tests/e2e/service"),
        ("tests/e2e/service/deep/test_a.py::test_b", "tests/e2e/service"),
        ("reduction/tests/torch/test_a.py::test_b", "reduction/tests"),
    ],
)
def test_each_test_has_a_folder_with_a_budget(name: str, folder: str) -> None:
    assert folder_of(name) == folder


def test_runs_add_to_what_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "durations.json"
    record({"a": 1.0, "b": 2.5}, path)
    record({"b": 3.0, "c": 0.2}, path)

    assert load(path) == {"a": 1.0, "b": 2.5, "c": 0.2}
    assert [each.name for each in path.parent.iterdir()] == ["durations.json"]


def test_a_test_that_was_removed_does_not_exist() -> None:
    here = "tests/unit/support/test_durations.py"

    assert exists(f"{here}::test_the_group_is_left_out[tests/a.py-tests/a.py]")
    assert not exists(f"{here}::test_that_{'went'}")
    assert not exists("tests/unit/support/test_gone.py::test_the_group_is_left_out")


def test_tests_of_every_share_exist() -> None:
    names = collect("tests/e2e/slurm/test_files.py", "tests/unit/support/test_shares.py")

    assert {name.partition("::")[0] for name in names} == {
        "tests/e2e/slurm/test_files.py",
        "tests/unit/support/test_shares.py",
    }


def test_what_is_short_or_gone_is_not_committed() -> None:
    committed, measured = {"slow": 9.0, "gone": 5.0, "quicker": 3.0}, {"quicker": 0.5, "new": 2.0}

    merged = merge(committed, measured, ["slow", "quicker", "new", "never run"])

    assert merged == {"slow": 9.0, "new": 2.0}


def test_a_busy_machine_is_allowed_for() -> None:
    committed = {f"t{n}": 2.0 for n in range(20)}

    assert slowdown(committed, dict.fromkeys(committed, 6.0)) == 3.0
    assert slowdown(committed, dict.fromkeys(committed, 1.0)) == 1.0
    assert slowdown(committed, {"t1": 6.0}) == 1.0


def test_each_excess_is_named() -> None:
    committed = {
        "tests/api/test_a.py::test_a": 4.9,
        "tests/api/test_a.py::test_long": 150.0,
        "tests/cli/test_a.py::test_a": 2.0,
    }
    measured = {"tests/api/test_a.py::test_new": 6.1, "tests/api/test_a.py::test_short": 0.5}

    new, api, cli, share = find_excesses(BUDGETS, committed, measured)

    assert new.startswith("tests/api/test_a.py::test_new takes 6.1 s, and a new test may take 5 s")
    assert api == "tests/api takes 11 s, and its budget is 10 s"
    assert cli == "tests/cli takes 2 s, and its budget is 0 s"
    assert share == "share 1 takes 150 s, and may take 100 s"


def test_what_is_within_its_budget_is_not_named() -> None:
    assert not list(find_excesses(BUDGETS, {"tests/api/test_a.py::test_a": 4.9}, {}))
