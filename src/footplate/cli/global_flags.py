"""gcloud's global flags, accepted anywhere on the command line.

Some do what they say there; the others say how to reach and bill Google, and have nothing to do.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

_IDLE = (
    *("--account", "--billing-project", "--configuration", "--access-token-file"),
    *("--impersonate-service-account", "--trace-token", "--project", "--format", "--flatten"),
)
"""Of no effect where a command hasn't got them by itself."""
_LEVELS = ("debug", "info", "warning", "error", "critical", "none")
_VALUED = frozenset({*_IDLE, "--verbosity", "--url", "--data-dir"})
_SWITCHES = frozenset(
    {
        *("--quiet", "-q", "--log-http", "--no-log-http", "--no-color"),
        *("--user-output-enabled", "--no-user-output-enabled"),
    }
)


def with_wide_flags(command: click.Command) -> click.Command:
    """``command`` takes those as well that it hasn't got.

    They stand in no help text of a command: there they would outnumber its own.
    """
    known = {name for parameter in command.params for name in parameter.opts}
    command.params += [option for option in _options() if known.isdisjoint(option.opts)]
    return command


def _options() -> list[click.Option]:
    plain = [click.Option([name], hidden=True, expose_value=False) for name in _IDLE]
    return [
        *plain,
        click.Option(["--quiet", "-q"], is_flag=True, hidden=True, expose_value=False),
        click.Option(["--log-http/--no-log-http"], hidden=True, expose_value=False),
        click.Option(["--verbosity"], type=click.Choice(_LEVELS), hidden=True, expose_value=False),
        click.Option(
            ["--user-output-enabled/--no-user-output-enabled"],
            default=True,
            hidden=True,
            expose_value=False,
            callback=_silence,
        ),
        click.Option(
            ["--no-color"], is_flag=True, hidden=True, expose_value=False, callback=_uncolour
        ),
    ]


def _silence(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if not value:
        ctx.with_resource(_silent())


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    with (
        Path(os.devnull).open("w", encoding="utf-8") as null,
        contextlib.redirect_stdout(null),
        contextlib.redirect_stderr(null),
    ):
        yield


def _uncolour(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value:
        ctx.color = False
        ctx.with_resource(_variable("NO_COLOR", "1"))


@contextlib.contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def pushed_down(args: list[str]) -> list[str]:
    """The arguments of a group with the wide flags before its command moved behind it."""
    taken = 0
    while taken < len(args) and (width := _width(args[taken])):
        taken += width
    if not taken or taken >= len(args):
        return args
    return [args[taken], *args[:taken], *args[taken + 1 :]]


def _width(word: str) -> int:
    """How many words the wide flag takes that begins with this one; 0: it is none."""
    name, equals, _ = word.partition("=")
    if name in _VALUED:
        return 1 if equals else 2
    return int(name in _SWITCHES)
