"""Values as the console's pages show them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from footplate.console.formatting import age, between, duration, icon, job_url, machines, size
from footplate.wire.json_text import JsonObject

NOW = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-1, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (86_403, "1 d"),
        (3661, "1 h 1 min"),
        (180_000, "2 d 2 h"),
    ],
)
def test_durations_have_two_units(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2026-01-02T12:00:30.000000Z", "now"),
        ("2026-01-02T11:59:30.000000Z", "30 s ago"),
        ("2026-01-02T10:30:00.000000Z", "1 h ago"),
        ("2025-12-30T10:30:00.000000Z", "3 d ago"),
    ],
)
def test_ages_have_one_unit(time: str, expected: str) -> None:
    assert age(time, NOW) == expected


def test_what_has_not_ended_lasts_until_now() -> None:
    start = "2026-01-02T11:59:00Z"
    assert between(None, None, NOW) == ""
    assert between(start, None, NOW) == "1 min"
    assert between(start, "2026-01-02T11:59:05Z", NOW) == "5 s"


def test_machines_that_are_alike_are_counted_together() -> None:
    small: JsonObject = {"machineType": "n1-standard-4", "count": 1}
    large: JsonObject = {
        "machineType": "a2-highgpu-1g",
        "count": 2,
        "acceleratorType": "NVIDIA_TESLA_A100",
        "acceleratorCount": 1,
    }
    found = machines([small, large, small | {"count": 3}])
    assert found == "4 \u00d7 n1-standard-4, 2 \u00d7 a2-highgpu-1g (1 \u00d7 NVIDIA_TESLA_A100)"


def test_names_stay_within_their_url() -> None:
    assert job_url("projects/p/jobs/a?b#c") == "/jobs/projects/p/jobs/a%3Fb%23c"


def test_an_unknown_state_has_an_icon() -> None:
    assert icon("NEW") == "\u2022"


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1500, "1.5 kB"),
        (999_950, "1000 kB"),
        (53_000_000, "53 MB"),
        (2_340_000_000, "2.3 GB"),
        (7 * 10**15, "7000 TB"),
    ],
)
def test_sizes_have_one_unit(count: int, expected: str) -> None:
    assert size(count) == expected
