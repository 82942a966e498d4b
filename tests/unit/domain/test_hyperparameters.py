"""Rules of searches that hold in either dialect; the faces' tests show the refusals in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.hyperparameters import (
    MAX_DISCRETE_VALUES,
    check_discrete_values,
    check_parameter_names,
    check_range,
    check_trial_counts,
)

NUMBERS = st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float)


@given(st.lists(NUMBERS, max_size=6), st.booleans())
def test_discrete_values_increase(values: list[float], logarithmic: bool) -> None:  # noqa: FBT001 - drawn
    scale = "UNIT_LOG_SCALE" if logarithmic else ""
    allowed = not list(check_discrete_values(values, "v", log_scale=scale))
    increasing = bool(values) and values == sorted(set(values))
    assert allowed == (increasing and not (logarithmic and values[0] <= 0))


def test_each_value_that_doesnt_increase_is_told() -> None:
    fields = [v.field for v in check_discrete_values([3, 2, 5, 5, 6], "v")]
    assert fields == ["v[1]", "v[3]"]


def test_values_stand_apart() -> None:
    values = [1.0, 1.0 + 1e-11, 2.0]
    assert list(check_discrete_values(values, "v")) == []
    (violation,) = check_discrete_values(values, "v", least_step=1e-10)
    assert violation.field == "v[1]"
    assert violation.description == ("1.00000000001 given; allowed: at least 1e-10 more than 1")


def test_there_are_not_too_many_values() -> None:
    most = [float(value) for value in range(MAX_DISCRETE_VALUES)]
    assert list(check_discrete_values(most, "v")) == []
    assert [v.field for v in check_discrete_values([*most, 0.0], "v")] == ["v"]


@given(NUMBERS, NUMBERS, st.booleans(), st.booleans())
def test_ranges(low: float, high: float, integral: bool, logarithmic: bool) -> None:  # noqa: FBT001 - drawn
    scale = "UNIT_LOG_SCALE" if logarithmic else ""
    allowed = not list(check_range(low, high, "l", "h", integral=integral, log_scale=scale))
    whole = low.is_integer() and high.is_integer()
    assert allowed == (low <= high and (whole or not integral) and not (logarithmic and low <= 0))


def test_a_name_is_no_longer_than_a_program_can_take() -> None:
    (violation,) = check_parameter_names([("f", "x" * 1025)])
    assert violation.description == "1025 characters given; allowed: at most 1024"


@given(st.lists(st.sampled_from(["lr", "batch-size", "x y", "a=b", "", "\n", "ü"]), max_size=4))
def test_names(names: list[str]) -> None:
    wrong = [v.field for v in check_parameter_names([(str(i), n) for i, n in enumerate(names)])]
    expected = [
        str(index)
        for index, name in enumerate(names)
        if name in ("x y", "a=b", "", "\n") or name in names[:index]
    ]
    assert wrong == expected


@given(st.integers(-1, 4), st.integers(-1, 4), st.integers(-1, 4))
def test_counts_of_trials(trials: int, parallel: int, failed: int) -> None:
    wrong = {v.field for v in check_trial_counts(trials, parallel, failed, ("t", "p", "f"))}
    assert ("t" in wrong) == (trials < 1)
    assert ("p" in wrong) == (parallel < 1)
    assert ("f" in wrong) == (failed < 0 or failed > trials >= 1)
