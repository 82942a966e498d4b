"""How much time has really passed since a moment that the wall clock has shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.clock_history import JUMP_S, ClockHistory

T0 = datetime(2026, 1, 2, tzinfo=UTC)
DAY_S = 86_400.0
STEPS = st.tuples(st.floats(0, 1e5), st.just(0.0) | st.floats(2, 1e6) | st.floats(-1e6, -2))
"""Seconds that pass, and then by how much somebody sets the clock."""


def passed_s(timeline: ClockHistory, moment: datetime, now: datetime) -> float:
    return (timeline.steady(now) - timeline.steady(moment)).total_seconds()


def test_a_clock_that_never_jumps_needs_no_witness() -> None:
    timeline = ClockHistory().after(T0, 5.0).after(T0 + timedelta(seconds=10.5), 15.0)

    assert len(timeline.stretches) == 1
    assert timeline.steady(T0) == T0


@pytest.mark.parametrize("jump_s", [3600.0, -3600.0, DAY_S, -DAY_S])
def test_a_jump_is_no_time(jump_s: float) -> None:
    now = T0 + timedelta(seconds=60 + jump_s)
    timeline = ClockHistory().after(T0, 0.0).after(now, 60.0)

    assert passed_s(timeline, T0, now) == 60.0
    assert passed_s(timeline, T0 - timedelta(seconds=40), now) == 100.0


def test_what_the_clock_has_shown_twice_counts_as_later() -> None:
    """A limit comes late then, and never early."""
    hour = timedelta(hours=1)
    timeline = ClockHistory().after(T0, 0.0).after(T0 + hour, 3600.0).after(T0, 3600.0)
    timeline = timeline.after(T0 + hour, 7200.0)

    assert passed_s(timeline, T0 + hour / 2, T0 + hour) == 1800.0


@given(st.lists(STEPS, min_size=1, max_size=20), st.data())
def test_no_more_time_has_passed_than_really_has(
    steps: list[tuple[float, float]], data: st.DataObject
) -> None:
    timeline, wall, real_s = ClockHistory().after(T0, 0.0), T0, 0.0
    noted = [(T0, 0.0)]
    for step_s, jump_s in steps:
        wall, real_s = wall + timedelta(seconds=step_s), real_s + step_s
        timeline = timeline.after(wall, real_s)
        noted.append((wall, real_s))
        wall += timedelta(seconds=jump_s)
        timeline = timeline.after(wall, real_s)
        noted.append((wall, real_s))

    moment, at_s = data.draw(st.sampled_from(noted))
    measured_s = passed_s(timeline, moment, wall)
    assert measured_s <= real_s - at_s + JUMP_S
    if all(jump_s >= 0 for _, jump_s in steps):
        assert measured_s == pytest.approx(real_s - at_s, abs=1e-3)
