"""Flags that gcloud takes with every command, and anywhere before its end.

Some do what they say there; the others say how to reach and bill Google, and have nothing to do.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")
R = TypeVar("R")

_IDLE = (
    *("--account", "--billing-project", "--configuration", "--access-token-file"),
    *("--impersonate-service-account", "--trace-token"),
)
_LEVELS = ("debug", "info", "warning", "error", "critical", "none")
_VALUED = frozenset({*_IDLE, "--verbosity", "--project", "--url", "--data-dir", "--format"})
_SWITCHES = frozenset(
    {
        *("--quiet", "-q", "--log-http", "--no-log-http", "--no-color"),
        *("--user-output-enabled", "--no-user-output-enabled"),
    }
)


def wide_flags(function: Callable[P, R]) -> Callable[P, R]:
    """They stand in no help text of a command: there they would outnumber its own."""
    for name in _IDLE:
        function = click.option(name, hidden=True, expose_value=False)(function)
    for option in (
        click.option("--quiet", "-q", is_flag=True, hidden=True, expose_value=False),
        click.option("--log-http/--no-log-http", hidden=True, expose_value=False),
        click.option("--verbosity", type=click.Choice(_LEVELS), hidden=True, expose_value=False),
        click.option(
            "--user-output-enabled/--no-user-output-enabled",
            default=True,
            hidden=True,
            expose_value=False,
            callback=_silence,
        ),
        click.option(
            "--no-color", is_flag=True, hidden=True, expose_value=False, callback=_uncolour
        ),
    ):
        function = option(function)
    return function


def wide_flags_alone(function: Callable[P, R]) -> Callable[P, R]:
    """For commands that need no server: a project means nothing to them."""
    for name in ("--project", "--region"):
        function = click.option(name, hidden=True, expose_value=False)(function)
    return wide_flags(function)


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
