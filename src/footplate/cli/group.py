"""Command groups that import a command only when it runs."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.keyboard_interrupt import INTERRUPTED, describe_interrupt
from footplate.cli.terminal_text import colourless, disarm
from footplate.domain.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_IDLE = (
    *("--account", "--billing-project", "--configuration", "--access-token-file"),
    *("--impersonate-service-account", "--trace-token", "--project", "--format"),
)
"""Of no effect where a command hasn't got them by itself."""
HELP_NAMES = ["-h", "--help"]
_LEVELS = ("debug", "info", "warning", "error", "critical", "none")
_REFUSED = {
    "--flatten": "--flatten is not supported; flatten the output of --format=json with jq",
    "--filter": "the API of this list has no filter; filter the output of --format=json with jq",
}
"""gcloud's that are refused with the way out: by clients of theirs they would be missed."""
_VALUED = frozenset({*_IDLE, "--flatten", "--verbosity", "--url", "--data-dir"})
_SWITCHES = frozenset(
    {
        *("--quiet", "-q", "--log-http", "--no-log-http", "--no-color"),
        *("--user-output-enabled", "--no-user-output-enabled"),
    }
)


def with_wide_flags(command: click.Command) -> click.Command:
    """Adds the wide flags that ``command`` lacks, and returns it.

    The help texts of commands leave them out, since they would outnumber a command's own options.
    """
    known = {name for parameter in command.params for name in parameter.opts}
    command.params += [option for option in _options() if known.isdisjoint(option.opts)]
    return command


def _refuse(_ctx: click.Context, parameter: click.Parameter, value: object) -> None:
    if value is not None:
        raise click.UsageError(_REFUSED[parameter.opts[0]])


def _options() -> list[click.Option]:
    plain = [click.Option([name], hidden=True, expose_value=False) for name in _IDLE]
    refused = [
        click.Option([name], hidden=True, expose_value=False, callback=_refuse) for name in _REFUSED
    ]
    return [
        *plain,
        *refused,
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
    """Returns a group's arguments with the wide flags before its command moved behind it."""
    taken = 0
    while taken < len(args) and (width := _width(args[taken])):
        taken += width
    if not taken or taken >= len(args):
        return args
    return [args[taken], *args[:taken], *args[taken + 1 :]]


def _width(word: str) -> int:
    """Returns how many words the wide flag that begins here takes; 0 if none begins here."""
    name, equals, _ = word.partition("=")
    if name in _VALUED:
        return 1 if equals else 2
    return int(name in _SWITCHES)


_PACKAGE = "footplate.cli"


@dataclass(frozen=True)
class Entry:
    """A command of a group: its name, the command, and its line in the group's help.

    ``command`` is the command, or the name of a module of this package that has it as ``command``;
    the import contracts then hold for it, too.
    """

    name: str
    command: click.Command | str
    summary: str

    def load(self) -> click.Command:
        if isinstance(self.command, click.Command):
            return self.command
        found: click.Command = importlib.import_module(f"{_PACKAGE}.{self.command}").command
        return found


class Group(click.Group):
    """A group that knows its commands by their entries; its help imports none of them."""

    def __init__(
        self,
        name: str,
        entries: Iterable[Entry],
        *,
        help: str,  # noqa: A002 - click's name
        aliases: dict[str, str] | None = None,
    ) -> None:
        super().__init__(name, help=help, no_args_is_help=True)
        self.entries = {entry.name: entry for entry in entries}
        self.aliases = aliases or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses arguments in which gcloud's wide flags may stand before the command."""
        return super().parse_args(ctx, pushed_down(args))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = self.entries.get(self.aliases.get(cmd_name, cmd_name))
        if entry is None:
            return None
        command = entry.load()
        return command if isinstance(command, click.Group) else with_wide_flags(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves a command; ``help`` means ``--help``. Unknown commands get a hint."""
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            if args[0] == "help":
                return self._resolve_help(ctx, args[1:])
            # Imported here: who finds what was looked for needs no hint.
            from footplate.cli.hints import hint

            ctx.fail(f"No such command {args[0]!r}.{hint(self, ctx, args[0])}")
        return super().resolve_command(ctx, args)

    def _resolve_help(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        return self.resolve_command(ctx, [*args, "--help"])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.summary) for entry in self.entries.values()])


class Failure(click.ClickException):
    """An error that ends the process with exit code 1."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self._colour = (
            False if colourless() else None
        )  # the caller that shows it cannot know it any more

    def show(self, file: object = None) -> None:  # noqa: ARG002 - click's signature
        click.secho("Error: ", nl=False, err=True, fg="red", color=self._colour)
        click.echo(disarm(self.message), err=True)


class Root(Group):
    """The root group: prints domain errors as messages; disables unwanted colours."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Creates the context, with ``-h`` for all commands; may print help or version."""
        extra.setdefault("help_option_names", HELP_NAMES)
        with _reporting_os_errors():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        if colourless():
            ctx.color = False
        with _reporting_os_errors():
            return self._invoke(ctx)

    def _invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(describe_interrupt(ctx), err=True)
            sys.exit(INTERRUPTED)
        except ServiceError as error:
            # Imported here: needed only if the job was not found.
            from footplate.cli.hints import way_out

            raise Failure(_explained(error) + way_out(error, ctx)) from error


@contextmanager
def _reporting_os_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE:  # who read the output is gone: click ends quietly
            raise
        _let_output_go()
        raise Failure(_describe_os_error(error)) from error


def _let_output_go() -> None:
    """Drops unwritten output; Python would retry at exit, and raise another error."""
    try:
        sys.stdout.flush()
    except OSError:  # who reads it is gone
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _describe_os_error(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else f"system error: {reason}"


def _explained(error: ServiceError) -> str:
    """Returns the message; several violations have a line each."""
    if len(error.violations) < 2:
        return error.message
    lines = (f"- {wrong.field}: {wrong.description}" for wrong in error.violations)
    return "\n".join([f"{len(error.violations)} things are wrong:", *lines])
