"""The page on commands is what the commands say of themselves."""

from __future__ import annotations

import re

import click
import pytest

from footplate.cli.group import HELP_NAMES
from footplate.cli.main import main
from tools.make_cli_reference import EXITS, EXITS_OF_ALL, PAGE, render, walk

TEXT = PAGE.read_text("utf-8")
COMMANDS = {
    name: command
    for name, command in walk(main, "footplate")
    if not isinstance(command, click.Group)
}


def test_the_page_is_fresh() -> None:
    assert render() == TEXT, "docs/reference/cli.md is stale: run `make reference`"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_section_with_all_its_options(name: str) -> None:
    found = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)
    assert found is not None
    context = click.Context(COMMANDS[name], help_option_names=HELP_NAMES)
    options = [p for p in COMMANDS[name].get_params(context) if isinstance(p, click.Option)]
    names = {option.opts[0] for option in options if not option.hidden} - {*HELP_NAMES}
    assert names <= set(re.findall(r"(?<!\w)--[a-z][a-z-]*", found[1]))


def test_exit_codes_are_told_of_commands_that_exist() -> None:
    assert set(EXITS) <= COMMANDS.keys()
    assert set(EXITS_OF_ALL) <= {name.rpartition(" ")[2] for name in COMMANDS}
