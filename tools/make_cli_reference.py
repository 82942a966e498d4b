"""Write docs/reference/cli.md from the commands themselves: ``make reference``.

A test fails while the page says anything else than this would write.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.group import HELP_NAMES
from footplate.cli.main import main as footplate

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "cli.md"

SHARED = (
    *("--region", "--project", "--url", "--data-dir"),
    *("--filter", "--limit", "--page-size", "--sort-by"),
)
"""Options that most commands have: described once, and named by each."""

EXITS = {
    "footplate up": "0 after Ctrl-C, SIGTERM or `footplate down`.",
    "footplate run": "The program's own; 127 if there is no such program, 126 if it can't be run.",
    "footplate ai-platform jobs submit training": "With `--stream-logs` as the job ends: 0 if it "
    "succeeded, else 1. With `--dry-run` 0 if it would be accepted, else 1.",
    "footplate ai custom-jobs create": "With `--stream-logs` as the job ends: 0 if it succeeded, "
    "else 1. With `--dry-run` 0 if it would be accepted, else 1.",
    "footplate ai hp-tuning-jobs create": "With `--stream-logs` as the job ends: 0 if it "
    "succeeded, else 1. With `--dry-run` 0 if it would be accepted, else 1.",
    "footplate ai custom-jobs local-run": "0 if the job succeeded, 1 if it failed, "
    "130 if Ctrl-C cancelled it.",
    "footplate ai-platform local train": "0 if the job succeeded, 1 if it failed, "
    "130 if Ctrl-C cancelled it.",
    "footplate catalogue check": "0 if the file is right, else 1.",
}
"""Where more is meant than the common codes; by the command's whole name."""

EXITS_OF_ALL = {
    "stream-logs": "0 if the job succeeded, else 1; 130 after Ctrl-C, and the job keeps running.",
    "trials": "With `--watch` 0 if the job succeeded, else 1; 130 after Ctrl-C, and the job "
    "goes on.",
    "stacks": "1 if no replica could be asked.",
    "ssh": "The shell's, or the command's, own; 255 if there was no shell, or it was cut off.",
}
"""The same for commands that several groups have, by the last word."""

HEAD = """\
# Commands

This page is made from the commands themselves (`make reference`). `COMMAND -h` says the same.

{toc}

## What all have in common

What is asked for goes to stdout, all else to stderr. Colours and progress appear on terminals only;
`NO_COLOR`, `TERM=dumb` and `--no-color` turn colours off there, too.

gcloud's wide flags may stand anywhere: `--project`, `--format`, `--quiet`,
`--no-user-output-enabled`. Those that say how to reach and bill Google are taken, of no effect:
`--account`, `--billing-project`, `--configuration`, `--access-token-file`,
`--impersonate-service-account`, `--trace-token`, `--log-http`, `--verbosity`.

`--format` takes `table`, `json`, `yaml` and `csv`, and fields of `csv` and `value`, such as
`value(name,jobSpec.workerPoolSpecs[0].replicaCount)`; `csv` alone has the columns of the table. For
the rest of gcloud's (projections, transforms, `--flatten`) print `json` and use `jq`. The service
itself evaluates `--filter`, as [its lists](coverage.md) do in all APIs: `FIELD=VALUE`, `!=`, `<`,
`<=`, `>`, `>=`, `:` (contains), `AND`, `OR`, `NOT`; `OR` comes before `AND`, and times without a
zone are in UTC. Lists of an API without filters have none.

| exit code | meaning |
|---|---|
| 0 | It is done. |
| 1 | Failure: stderr says why, and what to do. |
| 2 | The command line is wrong: an unknown option, a missing argument. |
| 130 | Ended by Ctrl-C: stderr says what keeps running. |

What a command's own section says of exit codes comes first. Most commands have some of these
options:

{shared}
"""


def render() -> str:
    """The whole page."""
    tree = [*walk(footplate, "footplate")]
    commands = [each for each in tree if not isinstance(each[1], click.Group)]
    shared = shared_options(commands)
    head = HEAD.format(toc=contents(commands), shared=option_table(shared))
    return "\n".join([head, *(section(name, command, shared) for name, command in tree)])


def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Every group, before its commands, and every command, by whole names."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name, help_option_names=HELP_NAMES)
        for word in command.list_commands(context):
            child = command.get_command(context, word)
            if child is not None and not child.hidden:
                yield from walk(child, f"{name} {word}")


def contents(commands: list[tuple[str, click.Command]]) -> str:
    lines = ["| command | |", "|---|---|"]
    for name, command in commands:
        link = f"[`{name.removeprefix('footplate ')}`](#{name.replace(' ', '-')})"
        lines.append(f"| {link} | {cell(command.get_short_help_str(limit=200))} |")
    return "\n".join(lines)


def section(name: str, command: click.Command, shared: list[click.Option]) -> str:
    parts = [f"## {name}\n"]
    if isinstance(command, click.Group):
        return "\n".join([*parts, *description(command)])
    pieces = command.collect_usage_pieces(
        click.Context(command, info_name=name, help_option_names=HELP_NAMES)
    )
    parts += [f"```\n{' '.join([name, *pieces])}\n```\n", *description(command)]
    rows = {option_row(option) for option in shared}
    own = [option for option in options(command) if option_row(option) not in rows]
    if own:
        parts.append(option_table(own) + "\n")
    names = [f"`{o.opts[0]}`" for o in options(command) if option_row(o) in rows]
    if names:
        parts.append(f"Also {', '.join(names)}: [common options](#what-all-have-in-common).\n")
    word = name.rpartition(" ")[2]
    exits = EXITS.get(name) or EXITS_OF_ALL.get(word)
    if exits:
        parts.append(f"Exit code: {exits}\n")
    return "\n".join(parts)


def description(command: click.Command) -> Iterator[str]:
    """The help text; what is not to be wrapped is code."""
    text = inspect.cleandoc(command.help or "").partition("\f")[0]
    for paragraph in re.split(r"\n\s*\n", text):
        if not paragraph.startswith("\b\n"):
            yield prose(paragraph) + "\n"
            continue
        block = textwrap.dedent(paragraph.removeprefix("\b\n"))
        title, _, rest = block.partition("\n")
        if title in {"Example:", "Examples:"}:
            yield f"{title}\n"
            block = textwrap.dedent(rest)
        yield f"```\n{block}\n```\n"


def prose(text: str) -> str:
    """Help text as Markdown; what stands between backticks stays as it is."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([<*])", r"\\\1", p) for p in parts)


def cell(text: str) -> str:
    return prose(" ".join(text.split())).replace("|", "\\|")


def options(command: click.Command) -> list[click.Option]:
    found = [p for p in command.params if isinstance(p, click.Option)]
    return [option for option in found if not option.hidden]


def shared_options(commands: list[tuple[str, click.Command]]) -> list[click.Option]:
    """Those of ``SHARED``, as most commands describe them."""
    found = [option for _, command in commands for option in options(command)]
    uses = Counter(option_row(option) for option in found)
    by_row = {option_row(option): option for option in found if option.opts[0] in SHARED}
    best = sorted(by_row, key=lambda row: uses[row])
    chosen = {by_row[row].opts[0]: by_row[row] for row in best}
    return [chosen[name] for name in SHARED]


def option_table(shown: list[click.Option]) -> str:
    return "\n".join(["| option | |", "|---|---|", *map(option_row, shown)])


def option_row(option: click.Option) -> str:
    names, text = option.get_help_record(click.Context(footplate)) or ("", "")
    names = names.replace("|", "\\|")
    return f"| `{names}` | {cell(text + environment(option))} |"


def environment(option: click.Option) -> str:
    """Which variables set it, where the help text doesn't say."""
    variables = option.envvar or ()
    names = [variables] if isinstance(variables, str) else [*variables]
    if not names or "[env" in (option.help or ""):
        return ""
    return f"  [env: {', '.join(names)}]"


def main() -> None:
    PAGE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
