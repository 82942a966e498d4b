"""Times as RFC 3339 writes them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.wire.timestamps import check_timestamp, format_time, parse_time


def test_times_go_out_in_utc_and_of_one_width() -> None:
    berlin = timezone(timedelta(hours=1))
    assert format_time(datetime(2026, 1, 2, 3, 4, 5, tzinfo=berlin)) == (
        "2026-01-02T02:04:05.000000Z"
    )


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_what_is_written_is_read_again(time: datetime) -> None:
    assert parse_time(format_time(time)) == time


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-01-02", datetime(2026, 1, 2, tzinfo=UTC)),
        ("2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)),
        ("2026-01-02T03:04:05-01:30", datetime(2026, 1, 2, 4, 34, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05.5-0130", datetime(2026, 1, 2, 4, 34, 5, 500_000, tzinfo=UTC)),
    ],
)
def test_other_spellings_are_read(text: str, time: datetime) -> None:
    assert parse_time(text) == time


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-13-01",
        "2026-02-30",
        "0000-01-01",
        "0001-01-01T00:00:00+01:00",
        "٢٠٢٦-01-01",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a time|does not exist"):
        parse_time(text)


def test_a_time_in_a_message_has_a_zone_as_protobuf_reads_it() -> None:
    assert check_timestamp("2026-01-02T03:04:05-01:30") == "2026-01-02T03:04:05-01:30"
    for text in ("2026-01-02T03:04:05-0130", "2026-01-02T03:04:05"):
        with pytest.raises(ValueError, match="a time with its zone"):
            check_timestamp(text)
