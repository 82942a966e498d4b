"""The process beside a container ends as its program did."""

from __future__ import annotations

import os

import pytest

from footplate.replica.container.runner import end_as


@pytest.mark.parametrize(
    ("status", "code"),
    [(0, 0), (3, 3), (127, 127), (128 + 9, -9), (128 + 11, -11), (128 + 15, -15), (255, 255)],
)
def test_an_exit_code_or_the_signal(status: int, code: int) -> None:
    child = os.fork()
    if child == 0:
        end_as(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code
