"""Lines come out alike however the pipe cuts them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from footplate.replica.program_output import LineSplitter

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
    *lines, last = text.split("\n")
    expected = [line[:-1] if line.endswith("\r") else line for line in lines]
    assert split(text.encode(), places, 1000) == expected + ([last] if last else [])


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
