"""The page on isolation says what the levels of isolation guarantee, as the code has it."""

from __future__ import annotations

from pathlib import Path

from footplate.replica.isolation import levels, mode_selection
from footplate.server.program_users import describe_power
from footplate.settings import ISOLATIONS

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "isolation.md"


def test_its_table_is_that_of_the_code() -> None:
    assert f"\n{levels.make_table()}\n" in PAGE.read_text("utf-8")


def test_each_containment_mode_has_a_row() -> None:
    names = [level.name for level in levels.CONTAINMENTS]
    assert names == ["container", *mode_selection.CONTAINMENT_MODES]
    assert set(names) - {"container"} == set(ISOLATIONS) - {"auto"}


def test_a_weak_containment_mode_is_warned_of() -> None:
    assert describe_power((), 1000, isolation="auto") == ()
    (note,) = describe_power((), 1000, isolation="subreaper")
    assert note == (
        "Programs can see all processes of this machine, and signal those of their user (setting "
        "isolation). To prevent this, set isolation = auto."
    )
