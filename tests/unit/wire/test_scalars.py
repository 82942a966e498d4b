"""Scalars of proto3 JSON, each in every spelling that a client uses."""

import pytest
from pydantic import TypeAdapter, ValidationError

from footplate.wire.scalars import Double, Duration, Flag, Int32, Int64, Text
from footplate.wire.training_v1.enums import ScaleTier
from footplate.wire.vertex_v1.enums import Strategy

INT32 = TypeAdapter[int](Int32)
INT64 = TypeAdapter[int](Int64)


@pytest.mark.parametrize("value", [5, 5.0, "5"])
def test_integers_come_as_numbers_integral_floats_and_strings(value: object) -> None:
    assert INT32.validate_python(value) == 5
    assert INT64.validate_python(value) == 5


@pytest.mark.parametrize("value", [True, 1.5, "1.5", "", "٣", "0x1", 1 << 63, "9" * 19, [], {}])
def test_other_integers_are_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="allowed: an integer of 64 bits"):
        INT64.validate_python(value)


def test_small_integers_end_at_32_bits() -> None:
    assert INT32.validate_python(-(1 << 31)) == -(1 << 31)
    with pytest.raises(ValidationError, match="allowed: an integer of 32 bits"):
        INT32.validate_python(1 << 31)


def test_large_integers_go_out_as_strings() -> None:
    assert INT64.dump_python(1 << 60, mode="json") == str(1 << 60)
    assert INT32.dump_python(7, mode="json") == 7


@pytest.mark.parametrize(
    "value", ["NaN", "inf", "x", "", "1_000", " 1", "٣", "1e400", True, None, 10**400]
)
def test_doubles_are_finite(value: object) -> None:
    with pytest.raises(ValidationError, match="allowed: a finite number"):
        TypeAdapter[float](Double).validate_python(value)


def test_doubles_come_as_numbers_and_strings() -> None:
    adapter = TypeAdapter[float](Double)
    assert [adapter.validate_python(v) for v in (1, 1.5, "1e-3", "-.5")] == [1.0, 1.5, 0.001, -0.5]


@pytest.mark.parametrize("value", ["0s", "3.5s", "604800s", "-1s", "0.000000001s"])
def test_durations_are_kept_as_they_are_written(value: str) -> None:
    assert TypeAdapter[str](Duration).validate_python(value) == value


@pytest.mark.parametrize(
    "value", [3, 3.5, "3", "3 s", "s", "1.s", "1e3s", "1m", "999999999999s", "1.0000000001s"]
)
def test_other_durations_are_refused_with_an_example(value: object) -> None:
    with pytest.raises(ValidationError, match='such as "3600s"'):
        TypeAdapter[str](Duration).validate_python(value)


def test_a_number_where_a_string_belongs_is_told_how_to_be_one() -> None:
    with pytest.raises(ValidationError, match=r'1\.15 given; allowed: a string, such as "1\.15"'):
        TypeAdapter[str](Text).validate_python(1.15)


def test_flags_are_true_or_false_only() -> None:
    with pytest.raises(ValidationError, match="1 given; allowed: true or false"):
        TypeAdapter[bool](Flag).validate_python(1)


@pytest.mark.parametrize("value", ["SPOT", "spot", 4, 4.0])
def test_enums_come_as_names_and_numbers(value: object) -> None:
    assert TypeAdapter(Strategy).validate_python(value) is Strategy.SPOT


@pytest.mark.parametrize("value", ["sp0t", "4", 5, 4.5, True, None, [], ""])
def test_other_enum_values_are_refused_with_all_that_are_allowed(value: object) -> None:
    with pytest.raises(ValidationError, match="allowed: STRATEGY_UNSPECIFIED, ON_DEMAND, LOW"):
        TypeAdapter(Strategy).validate_python(value)


def test_enums_go_out_as_names() -> None:
    assert TypeAdapter(ScaleTier).dump_python(ScaleTier.CUSTOM, mode="json") == "CUSTOM"


def test_a_number_as_a_text_has_a_bound() -> None:
    adapter = TypeAdapter[float](Double)
    assert adapter.validate_python("0" * 999 + "7") == 7
    with pytest.raises(ValidationError, match="allowed: a finite number"):
        adapter.validate_python("0" * 1000 + "7")
