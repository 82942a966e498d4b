"""Every `footplate` command in the documentation is one that the command line takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from footplate.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
INTO_FILE = re.compile(r" > \S+$")
BLOCK = re.compile(r"```(?:console|sh|bash)\n(.*?)```", re.DOTALL)


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in BLOCK.findall(page.read_text()):
            text = block.replace("\\\n", " ")
            for line in text.splitlines():
                command = line.removeprefix("$ ").strip()
                if command.startswith("footplate "):
                    yield page.name, command


@pytest.mark.parametrize(("page", "command"), list(commands()))
def test_the_command_line_takes_it(page: str, command: str) -> None:
    typed = INTO_FILE.sub("", command.replace(" ...", ""))
    words = shlex.split(typed, comments=True)
    take(main, words[0], words[1:], complete=" ..." not in command)


def take(command: click.Command, name: str, words: list[str], *, complete: bool) -> None:
    """Parse as the command line does, and stop before anything happens."""
    context = command.make_context(name, list(words), resilient_parsing=not complete)
    if isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        found, sub, rest = command.resolve_command(context, rest)
        assert sub is not None, found
        take(sub, str(found), rest, complete=complete)


def test_the_readme_has_commands() -> None:
    assert len([c for page, c in commands() if page == "README.md"]) > 5
