"""How much time has really passed since a moment that the wall clock has shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from footplate.domain.clock_history import NUMBERS, ClockHistory

T0 = datetime(2026, 1, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY_S = 86_400.0


def passed_s(history: ClockHistory, moment: datetime, now: datetime) -> float:
    return (history.steady(now) - history.steady(moment)).total_seconds()


def test_a_clock_that_never_jumps_needs_no_witness() -> None:
    history = ClockHistory().after(T0, 5.0).after(T0 + timedelta(seconds=10.05), 15.0)

    assert len(history.segments) == 1
    assert history.steady(T0) == T0


@pytest.mark.parametrize("jump_s", [0.5, -0.5, 3600.0, -3600.0, DAY_S, -DAY_S])
def test_a_jump_is_no_time(jump_s: float) -> None:
    now = T0 + timedelta(seconds=60 + jump_s)
    history = ClockHistory().after(T0, 0.0).after(now, 60.0)

    assert passed_s(history, T0, history.mark(now)) == pytest.approx(60.0, abs=1e-3)
    before_all = T0 - timedelta(seconds=40)
    assert passed_s(history, before_all, history.mark(now)) == pytest.approx(100.0, abs=1e-3)


def test_what_the_clock_has_shown_twice_is_known_by_its_number() -> None:
    history = ClockHistory().after(T0, 0.0)
    first = history.mark(T0 + HOUR / 2)
    history = history.after(T0, 3600.0)
    second, now = history.mark(T0 + HOUR / 2), history.mark(T0 + HOUR)

    assert second - first == timedelta(microseconds=1)
    assert passed_s(history, first, now) == pytest.approx(5400.0, abs=1e-3)
    assert passed_s(history, second, now) == pytest.approx(1800.0, abs=1e-3)


def test_a_moment_of_another_clock_counts_as_the_later_one_of_two() -> None:
    """A limit comes late then, and never early."""
    history = ClockHistory().after(T0, 0.0).after(T0, 3600.0).after(T0 + HOUR, 7200.0)
    foreign = T0 + HOUR / 2 + timedelta(microseconds=77)

    assert passed_s(history, foreign, history.mark(T0 + HOUR)) == pytest.approx(1800.0, abs=1e-3)


def test_a_number_counts_only_while_the_clock_can_have_shown_the_moment() -> None:
    """Another server of the same database may have had as many jumps, at other times."""
    history = ClockHistory().after(T0, 0.0).after(T0 + 24 * HOUR, 3600.0)
    foreign = T0 + 25 * HOUR

    assert foreign.microsecond % NUMBERS == history.segments[0].number
    now = history.mark(T0 + 26 * HOUR)
    assert passed_s(history, foreign, now) == pytest.approx(3600.0, abs=1e-3)


def test_a_moment_of_a_clock_that_is_ahead_counts_as_now_and_not_as_before_a_jump() -> None:
    history = ClockHistory().after(T0, 0.0).after(T0 + 24 * HOUR, 3600.0)
    foreign = T0 + 24 * HOUR + timedelta(seconds=3)

    assert passed_s(history, foreign, history.mark(T0 + 24 * HOUR)) == pytest.approx(-3, abs=1e-3)


def test_numbers_are_unique_however_often_the_clock_is_set() -> None:
    history = ClockHistory((), 42).after(T0, 0.0)
    for day in range(1, 3 * NUMBERS):
        history = history.after(T0 + day * 24 * HOUR, 0.0)
        numbers = [each.number for each in history.segments]
        assert len(set(numbers)) == len(numbers)

    assert history.segments[0].number == 42
