"""Lines come out alike however the pipe cuts them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.replica.program_output import LineSplitter, Progress

LIMIT = 10


def split(data: bytes, places: list[int], limit: int) -> list[str]:
    splitter = LineSplitter(limit)
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    lines: list[str] = []
    for start, end in pairwise(edges):
        lines += splitter.feed(data[start:end])
    return lines + splitter.finish()


TEXT = st.text(st.sampled_from("aé€😀\r\n"), max_size=60)


@given(text=TEXT, places=st.lists(st.integers(0, 1000)))
def test_lines_are_those_of_the_text(text: str, places: list[int]) -> None:
    *lines, last = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    assert split(text.encode(), places, 1000) == lines + ([last] if last else [])


@given(
    parts=st.lists(st.sampled_from(["a", " ", "\r", "\n", "\x1b[A", "\x1b[K", "é"]), max_size=30),
    places=st.lists(st.integers(0, 1000)),
)
def test_progress_is_the_same_however_it_is_cut(parts: list[str], places: list[int]) -> None:
    data = "".join(parts).encode()
    found, whole = split(data, places, LIMIT), split(data, [], LIMIT)
    assert [(type(line), line) for line in found] == [(type(line), line) for line in whole]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ("\r 0%|  |\r50%|# |\r100%|##|\n", [Progress("100%|##|")]),
        ("1/2\r2/2\r", [Progress("2/2")]),  # as a bar of a program that fails leaves it
        ("10%\r20%, done.\nnext\n", [Progress("20%, done."), "next"]),  # as git does
        ("\r50%\r     \rdone\n", [Progress("done")]),
        ("\r50%\r\x1b[2K\n", [Progress("50%")]),
        ("\r50%\r   \r", [Progress("50%")]),
        ("of Windows\r\nand more\r\r\n", ["of Windows", "and more"]),
        ("a  \r\n\r\n", ["a  ", ""]),
        # tqdm in tqdm: the inner bar is below the outer one
        (
            "\router 0\n\rin 0\x1b[A\n\rin 1\x1b[A\router 1\n\rin 0\x1b[A\n",
            ["outer 0", "outer 1", "in 0"],
        ),
        ("\r1\n\n\r3\x1b[A\x1b[A\n\n\r4\x1b[A\x1b[A\nx\n", ["1", "", "x"]),
        ("up\x1b[A\nnot a bar\n", ["up\x1b[A", "not a bar"]),
    ],
)
def test_the_last_state_of_a_rewritten_line_is_the_line(data: str, lines: list[str]) -> None:
    found = split(data.encode(), [], 1000)
    assert found == lines
    for line, expected in zip(found, lines, strict=True):
        assert isinstance(line, Progress) or not isinstance(expected, Progress)


def test_a_line_without_an_end_can_be_shown_and_comes_once() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"loading") == []
    assert splitter.show() == ["loading"]
    assert splitter.show() == []
    assert splitter.feed(b"...\nloading") == ["loading..."]
    assert splitter.show() == ["loading"]
    assert splitter.feed(b"\nend\n") == ["end"]
    assert splitter.finish() == []


def test_a_bar_that_was_shown_in_its_last_state_is_not_repeated() -> None:
    splitter = LineSplitter()
    splitter.feed(b"\r1/3\r2/3")
    assert splitter.show() == [Progress("2/3")]
    assert splitter.finish() == []
    splitter.feed(b"\r1/3\r2/3")
    splitter.show()
    splitter.feed(b"\r3/3")
    (last,) = splitter.finish()
    assert last == "3/3"
    assert isinstance(last, Progress)


@given(text=TEXT, places=st.lists(st.integers(0, 1000)))
def test_pieces_of_long_lines_keep_every_character(text: str, places: list[int]) -> None:
    text = text.replace("\r", "")
    pieces = split(text.encode(), places, LIMIT)
    assert "".join(pieces) == text.replace("\n", "")
    assert all(len(piece.encode()) <= LIMIT for piece in pieces)


@given(data=st.binary(max_size=200), places=st.lists(st.integers(0, 1000)))
def test_any_bytes_come_through_in_bounded_memory(data: bytes, places: list[int]) -> None:
    pieces = split(data, places, LIMIT)
    assert pieces == split(data, [], LIMIT)
    assert all(len(piece) <= LIMIT for piece in pieces)


def test_a_line_of_exactly_the_limit_is_one_piece() -> None:
    assert split(b"x" * LIMIT + b"\n\ny", [], LIMIT) == ["x" * LIMIT, "", "y"]


def test_a_piece_may_have_no_valid_character() -> None:
    assert split(b"\x80" * 15, [], LIMIT) == ["\ufffd" * 10, "\ufffd" * 5]
