"""The names under which failed tests run again."""

from __future__ import annotations

import pytest

from tools.failed_tests import name_of


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
    assert name_of(failed) == name
