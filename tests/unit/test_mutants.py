"""Which breaks of the code are tried, how they are written, and on which tests first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.deadlines import EVENT_S
from tools.code_breaks import find_mutants
from tools.mutants import choose, found_by, namespace, near_tests


def changes(source: str) -> list[str]:
    """The sources that one change each makes of this one, all of which are Python."""
    text = source.encode()
    made = [mutant.apply(text).decode() for mutant in find_mutants("a.py", text)]
    for each in made:
        compile(each, "a.py", "exec")
    return made


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("a < b", ["a <= b"]),
        ("(a) <= (b)", ["(a) < (b)"]),
        ("a > b >= c", ["a >= b >= c", "a > b > c"]),
        ("a == b", ["a != b"]),
        ("a != b", ["a == b"]),
        ("a is b", ["a is not b"]),
        ("a is  not b", ["a is b"]),
        ("a in b", ["a not in b"]),
        ("a not in b", ["a in b"]),
        ("a and b and c", ["a or b and c", "a and b or c"]),
        ("a or (\n    b)", ["a and (\n    b)"]),
        ("a = not (b)", ["a =  (b)"]),
        ("if a: b", ["if (not (a)): b"]),
        ("if a.b(c): b", ["if (not (a.b(c))): b"]),
        ("while a: b", ["while (not (a)): b"]),
        ("a if b else c", ["a if (not (b)) else c"]),
        ("a = [b for b in c if b]", ["a = [b for b in c if (not (b))]"]),
        ("if a := b: c", ["if (not (a := b)): c"]),
        ("a(b)", ["pass"]),
        ("a(\n    b,\n)\nc", ["pass\nc"]),
        ("a = b(7)", ["a = b(8)"]),
        ("a = -0x0f", ["a = -16"]),
        ("é = 'é'; b = 1", ["é = 'é'; b = 2"]),
    ],
)
def test_one_thing_is_changed_at_a_time(source: str, made: list[str]) -> None:
    assert changes(source) == made


def test_an_awaited_call_is_left_out_whole() -> None:
    assert changes("async def a():\n    await b()\n") == ["async def a():\n    pass\n"]


@pytest.mark.parametrize(
    "source",
    [
        '"""1 < 2"""',
        "__all__ = [1]",
        "a: Literal[1]",
        "def a(b: Literal[1]) -> Literal[2]: ...",
        "if TYPE_CHECKING:\n    a()\n",
        'if __name__ == "__main__":\n    a()\n',
        'f"{a:1} {b == 2}"',
        "logger.info(1)",
        "print(1)",
        "LIMIT_S = 30",
        "a = b(timeout_s=30)",
        "a = True",
        "a = 1.5",
        "a  # < b",
    ],
)
def test_what_changes_nothing_is_no_break(source: str) -> None:
    assert changes(source) == []


def test_a_break_says_where_it_is_and_what_it_does() -> None:
    source = b"def a():\n    if b < (c):  # why\n        d()\n"
    first, second = find_mutants("src/a.py", source)
    assert str(first) == "src/a.py:2: < -> <="
    assert first.diff(source) == ("if b < (c):  # why", "if b <= (c):  # why")
    assert str(second) == "src/a.py:3: d() -> pass"


def test_each_package_gives_its_share() -> None:
    places = {name: find_mutants(name, b"a = 1\n" * count) for name, count in SIZES.items()}
    chosen = choose(places, 10, seed=1)
    assert [mutant.path for mutant in chosen] == [*["large"] * 6, *["small"] * 3, "tiny"]
    assert len(set(chosen)) == len(chosen)
    assert chosen == choose(places, 10, seed=1)
    assert chosen != choose(places, 10, seed=2)


SIZES = {"large": 60, "small": 30, "tiny": 2}


def test_the_nearest_tests_come_first(tmp_path: Path) -> None:
    for test in (
        "unit/control/test_any.py",
        "unit/control/tuning/test_tuner.py",
        "unit/replica_usage/test_sampler.py",
        "unit/replica/test_supervisor.py",
        "api/test_all.py",
    ):
        (tmp_path / "tests" / test).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / test).touch()
    (tmp_path / "tests" / "api" / "test_all.py").write_text(
        "import footplate.control.some_module\n"
    )
    control = ["tests/unit/control/test_any.py", "tests/unit/control/tuning/test_tuner.py"]
    near = {
        "src/footplate/control/some_module.py": ["tests/api/test_all.py", *control],
        "src/footplate/control/tuning/tuner.py": control[1:],
        "src/footplate/control/__init__.py": control,
        "src/footplate/replica/usage/sampler.py": ["tests/unit/replica_usage/test_sampler.py"],
        "src/footplate/replica/supervisor.py": ["tests/unit/replica/test_supervisor.py"],
    }
    assert {path: near_tests(path, tmp_path) for path in near} == near


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("..F\nFAILED tests/a.py::test_b[x - y] - assert 1\n", "tests/a.py::test_b[x - y]"),
        ("FAILED tests/a.py::test_b[x]@group - assert [1] - [2]\n", "tests/a.py::test_b[x]"),
        ("..F\nFAILED tests/a.py::test_b\n1 failed\n", "tests/a.py::test_b"),
        ("ERROR tests/a.py - ImportError\n", "tests/a.py"),
        ("usage\nno such option\n", "no such option"),
        ("", "nothing was printed"),
    ],
)
def test_the_test_that_failed_is_named(output: str, found: str) -> None:
    assert found_by(output) == found


WAITS_FOR_AN_ORPHAN = """
import os, subprocess, sys, time
shell = subprocess.run(["sh", "-c", "true & echo $!"], stdout=subprocess.PIPE, check=True)
while os.path.exists(f"/proc/{int(shell.stdout)}"):
    time.sleep(0.01)
sys.exit(3 if os.getpid() > 1000 else 4)
"""


@pytest.mark.skipif(not namespace(), reason="needs root and unshare")
def test_orphans_are_reaped_and_ids_are_high_in_the_namespace() -> None:
    """Else tests that wait for the end of an orphan fail with every break, and again alone."""
    command = [*namespace(), sys.executable, "-c", WAITS_FOR_AN_ORPHAN]
    assert subprocess.run(command, check=False, timeout=EVENT_S).returncode == 3
