"""gcloud's lists and dictionaries."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner

from footplate.cli.option_values import (
    DictValue,
    ListValue,
    RepeatableOption,
    enum_name,
    split_list,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a", ["a"]),
        ("a,b c,", ["a", "b c", ""]),
        ("^;^a,b;c", ["a,b", "c"]),
        ("^::^a:b::c", ["a:b", "c"]),
        ("--x=1,--y", ["--x=1", "--y"]),
    ],
)
def test_lists(text: str, expected: list[str]) -> None:
    assert split_list(text) == expected


def test_accelerators_as_people_write_them() -> None:
    assert enum_name("nvidia-tesla-t4") == enum_name("NVIDIA_TESLA_T4") == "NVIDIA_TESLA_T4"


@click.command()
@click.option("--args", cls=RepeatableOption, type=ListValue())
@click.option("--packages", cls=RepeatableOption, type=ListValue(), default=[])
@click.option("--labels", cls=RepeatableOption, type=DictValue())
def show(**options: object) -> None:
    click.echo(json.dumps(options))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), {"args": None, "packages": [], "labels": None}),
        (("--args=", "--labels="), {"args": [], "packages": [], "labels": {}}),
        (
            ("--args=--v,1", "--labels=a=b", "--args=--v,2", "--labels=c=d,e=", "--packages=p"),
            {
                "args": ["--v", "1", "--v", "2"],
                "packages": ["p"],
                "labels": {"a": "b", "c": "d", "e": ""},
            },
        ),
    ],
)
def test_what_is_given_twice_adds_up(words: tuple[str, ...], expected: dict[str, object]) -> None:
    assert json.loads(CliRunner().invoke(show, words).output) == expected


def test_a_key_that_is_given_twice_is_refused() -> None:
    result = CliRunner().invoke(show, ["--labels=a=b", "--labels=a=c"])
    assert result.exit_code == 2
    assert "Invalid value for '--labels': the key 'a' is given twice" in result.stderr
