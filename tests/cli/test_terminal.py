"""What a terminal may get of the texts of others."""

import pytest

from footplate.cli.terminal import clip, disarm


@pytest.mark.parametrize(
    "text", ["", "épochs ▁▃█ 🚀", "a\tb\nc", " 50%\r100%", "\x1b[1;31mred\x1b[0m", "\x1b[m"]
)
def test_text_colours_and_progress_stay(text: str) -> None:
    assert disarm(text) == text


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
    [("census", 6, "census"), ("census_1", 6, "cen..."), ("census", 2, "..."), ("", 0, "")],
)
def test_long_lines_end_in_dots(line: str, width: int, shown: str) -> None:
    assert clip(line, width) == shown
