"""Bars of trials over one axis of time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from footplate.console.search_view import WIDTH, make_bars

if TYPE_CHECKING:
    from pydantic import JsonValue

NOW = datetime(2026, 11, 26, 12, 10, tzinfo=UTC)


def trial(number: int, state: str, **times: str) -> dict[str, JsonValue]:
    named: dict[str, JsonValue] = {f"{k}Time": f"2026-11-26T12:{v}:00Z" for k, v in times.items()}
    return {"number": number, "state": state, "stoppedEarly": number == 2, **named}


def test_trials_wait_run_and_end_on_one_axis() -> None:
    first = trial(1, "SUCCEEDED", create="00", start="02", end="06")
    second = trial(2, "SUCCEEDED", create="00", start="05", end="05")
    third = trial(3, "ACTIVE", create="06", start="07")
    fourth = trial(4, "REQUESTED", create="08")
    bars = make_bars([third, first, fourth, second], NOW)
    assert [bar.number for bar in bars] == [1, 2, 3, 4]
    assert [bar.look for bar in bars] == ["succeeded", "stopped", "running", "requested"]
    one, two, three, four = bars
    assert (one.waited, round(one.x), round(one.width)) == (0.0, 199, 399)
    assert two.width > 0, "what took no time can be seen"
    assert three.x + three.width == WIDTH - 3
    assert four.width == 0
    assert (three.start, three.end) == ("2026-11-26T12:07:00Z", None)


def test_no_trials_have_no_bars() -> None:
    assert make_bars([], NOW) == []
