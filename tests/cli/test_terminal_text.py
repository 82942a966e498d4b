"""What a terminal may get of the texts of others."""

import json

import pytest
import yaml

from footplate.cli.doctor.assessment import Finding, Verdict
from footplate.cli.follow import FollowOutput
from footplate.cli.output_format import read_format, render
from footplate.cli.terminal_text import clip, disarm, spell_json
from footplate.client.records import LogLine


@pytest.mark.parametrize("text", ["", "épochs ▁▃█ 🚀", "a\tb\nc", "\x1b[1;31mred\x1b[0m", "\x1b[m"])
def test_text_and_colours_stay(text: str) -> None:
    assert disarm(text) == text


def test_only_what_programs_print_goes_back_within_its_line() -> None:
    assert disarm(" 50%\r100%\b", moving=True) == " 50%\r100%\b"
    assert disarm("failed\rsucceeded\b") == "failed\\x0dsucceeded\\x08"


def test_names_have_no_colours() -> None:
    assert disarm("\x1b[8mhidden", plain=True) == "\\x1b[8mhidden"


def test_what_turns_the_order_of_characters_is_written_out() -> None:
    assert disarm("cen\u202esus\u2066") == "cen\\u202esus\\u2066"
    assert disarm("שלום") == "שלום"


def test_json_has_nothing_that_a_terminal_obeys() -> None:
    value = {"ü": "\x1b]0;x\x07 \x9b2J \x7f 🚀 \u202e"}
    text = spell_json(value)
    assert text.isprintable()
    assert json.loads(text) == value
    assert "ü" in text


HOSTILE = "a\u202eb\u200fc\x9b2Jd\x1b]0;x\x07e"
SAFE = "a\\u202eb\\u200fc\\x9b2Jd\\x1b]0;x\\x07e"


def test_pipes_get_what_terminals_get(capsys: pytest.CaptureFixture[str]) -> None:
    FollowOutput(named=False).line(LogLine(1, "", "INFO", "chief", 1, HOSTILE))
    assert capsys.readouterr().out == f"{SAFE}\n"
    for layout in ("value(a)", "csv(a)", "table"):
        assert SAFE in render({"a": HOSTILE}, read_format(layout), {"A": "a"})
    assert Finding("a", Verdict.OK, HOSTILE).line().endswith(SAFE)


def test_yaml_has_nothing_that_a_terminal_obeys() -> None:
    value = {"ü": HOSTILE}
    text = render(value, read_format("yaml"), {})
    assert text.isascii()
    assert yaml.safe_load(text) == value
    assert "ü" in render({"ü": "a"}, read_format("yaml"), {})


@pytest.mark.parametrize(
    "text",
    ["\x1b", "\x1b[2J", "\x1b[31", "\x1b]0;x\x07", "\x9b2J", "\x1bP", "\x00", "\x7f", "\x0e"],
)
def test_commands_are_written_out(text: str) -> None:
    shown = disarm(text)
    assert shown.isprintable()
    assert shown.startswith("\\x")


@pytest.mark.parametrize(
    ("line", "width", "shown"),
    [
        ("census", 6, "census"),
        ("census_1", 6, "cen..."),
        ("census", 2, "..."),
        ("", 0, ""),
        ("漢字漢字", 7, "漢字..."),
        ("漢字漢字", 8, "漢字漢字"),
    ],
)
def test_long_lines_end_in_dots(line: str, width: int, shown: str) -> None:
    assert clip(line, width) == shown
