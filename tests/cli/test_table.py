"""Tables that keep to the width of a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footplate.cli.table import folded, table

HEADINGS = ("JOB", "STATE", "NOTE")
ROWS = (
    ("census_1", "QUEUED", "Waits for 4 GPUs on this machine: 1 of 4 is free; train_a holds 3."),
    ("census_2", "RUNNING", ""),
)

TEXTS = st.text(alphabet="ab ", max_size=60)


def test_what_fits_stays_as_it_is() -> None:
    assert folded(HEADINGS, ROWS, 200) == table(HEADINGS, ROWS)


def test_the_last_column_is_broken_where_there_is_room_beside_the_others() -> None:
    assert folded(HEADINGS, ROWS, 60).splitlines() == [
        "JOB       STATE    NOTE",
        "census_1  QUEUED   Waits for 4 GPUs on this machine: 1 of 4",
        "                   is free; train_a holds 3.",
        "census_2  RUNNING",
    ]


def test_it_follows_below_its_row_where_there_is_none() -> None:
    lines = folded(HEADINGS, ROWS, 40).splitlines()
    assert lines[:3] == [
        "JOB       STATE",
        "    NOTE",
        "census_1  QUEUED",
    ]
    assert lines[3] == "    Waits for 4 GPUs on this machine: 1"
    assert lines[-1] == "census_2  RUNNING"


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1), width=st.integers(1, 120))
def test_no_word_is_lost(rows: list[tuple[str, str]], width: int) -> None:
    text = folded(("A", "B"), rows, width)
    assert text.split() == [
        "A", "B", *(word for row in rows for cell in row for word in cell.split())
    ]  # fmt: skip
