"""Flags of gcloud that every command takes, and Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable

import click
import pytest
from click.testing import Result

from footplate.cli.group import Entry, Root, pushed_down
from footplate.cli.keyboard_interrupt import at_interrupt
from tests.support.fake_service import FakeService


@pytest.mark.parametrize(
    "words",
    [
        ("--project=p", "--quiet", "ai-platform", "jobs", "list", "--verbosity=error"),
        ("ai-platform", "--project", "p", "jobs", "-q", "list", "--account=me"),
        ("ai-platform", "jobs", "list", "--project=p", "--billing-project=x", "--log-http"),
    ],
)
def test_they_stand_anywhere(
    words: tuple[str, ...], invoke: Callable[..., Result], fake: FakeService
) -> None:
    assert invoke(*words).exit_code == 0
    assert fake.last("GET").path == "/v1/projects/p/jobs"


def test_commands_that_need_no_server_take_them_too(invoke: Callable[..., Result]) -> None:
    words = ("--quiet", "--project=p", "completion", "bash", "--verbosity=none")
    assert invoke(*words).exit_code == 0


def test_they_are_in_no_help_text(invoke: Callable[..., Result]) -> None:
    assert "--impersonate" not in invoke("ai-platform", "jobs", "list", "--help").stdout


def test_what_a_program_gets_is_left_alone() -> None:
    assert pushed_down(["run", "--project", "x"]) == ["run", "--project", "x"]
    assert pushed_down(["--project", "x"]) == ["--project", "x"]
    assert pushed_down(["-q", "run", "--", "-q"]) == ["run", "-q", "--", "-q"]


def test_output_can_be_turned_off(invoke: Callable[..., Result]) -> None:
    words = ("ai-platform", "jobs", "list", "--no-user-output-enabled")
    result = invoke(*words)
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize("said", ["Interrupted; job j goes on.", None])
def test_an_interrupt_ends_with_130_and_says_what_goes_on(
    said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    @click.command("wait")
    def wait() -> None:
        if said:
            at_interrupt(said)
        raise KeyboardInterrupt

    monkeypatch.setattr(Root, "get_command", lambda *_: wait)
    root = Root("footplate", [Entry("wait", "", "")], help="")
    result = CliRunner().invoke(root, ["wait"])
    assert result.exit_code == 130
    assert result.stderr == f"\n{said or 'Interrupted.'}\n"
