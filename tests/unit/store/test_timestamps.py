from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.timestamps import from_micros, to_micros

zones = st.builds(timezone, st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))
instants = st.builds(
    lambda seconds, micros, zone: datetime.fromtimestamp(seconds, zone) + micros,
    st.integers(-60_000_000_000, 250_000_000_000),
    st.timedeltas(timedelta(0), timedelta(seconds=1)),
    zones,
)


@given(instants)
def test_a_time_comes_back_to_the_microsecond(time: datetime) -> None:
    assert from_micros(to_micros(time)) == time
    assert from_micros(to_micros(time)).tzinfo is UTC


@given(instants, instants)
def test_numbers_sort_as_the_times_do(one: datetime, other: datetime) -> None:
    assert (to_micros(one) < to_micros(other)) == (one < other)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(TypeError):
        to_micros(datetime(2026, 1, 1))  # noqa: DTZ001
