"""Progress of long work, on terminals and elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from footplate.cli.progress import Progress

_WORK = """\
from footplate.cli.progress import Progress
with Progress("Copying", 2) as progress:
    progress.step("Copying one\\x1b[2J")
    progress.step("Copying two")
"""


def test_elsewhere_each_step_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("Copying", 2) as progress:
        progress.step("Copying one")
        progress.step("Copying two")
    with Progress("Uploading", 1, plain=False) as progress:
        progress.step("Uploading one")
    assert capsys.readouterr() == ("", "Copying one\nCopying two\n")


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_on_a_terminal_nothing_stays_but_for_those_who_want_no_colours(
    variables: dict[str, str],
) -> None:
    ours, terminal = os.openpty()
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "TERM"}}
    environ = {**kept, "TERM": "xterm", "COLUMNS": "60", **variables}
    subprocess.run(
        [sys.executable, "-c", _WORK],
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env=environ,
        check=True,
    )
    os.close(terminal)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "\x1b[2J" not in shown
    if variables:
        assert shown == "Copying one\\x1b[2J\r\nCopying two\r\n"
    else:
        assert shown.endswith("\x1b[2K")
        assert "1/2" in shown
