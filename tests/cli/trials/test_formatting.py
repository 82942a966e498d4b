from __future__ import annotations

import pytest

from footplate.cli.trials.table import duration, figure, sparkline


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.26, "0.3s"),
        (9.96, "10s"),
        (59.4, "59s"),
        (59.6, "1m 00s"),
        (3661, "1h 01m"),
        (90_000, "1d 01h"),
    ],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_figures() -> None:
    values = [None, True, "adam", 123456789, 0.000123456789, 1e300, float("nan")]
    told = ["", "True", "adam", "123456789", "0.000123457", "1e+300", "nan"]
    assert [figure(value) for value in values] == told


def test_a_chart_has_its_first_and_last_point() -> None:
    assert sparkline([1.0, 1.0], 40) == "▁▁"
    assert sparkline([float(n) for n in range(1000)], 8) == "▁▂▃▄▅▆▇█"
