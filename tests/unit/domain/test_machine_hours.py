"""What jobs have used, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.jobs import MachineSpec
from footplate.domain.machine_hours import (
    NO_PRICES,
    MachineHours,
    Prices,
    add,
    hours_of,
    hours_used,
    say_cost,
    say_hours,
)
from footplate.domain.price_table import read_prices
from tests.support.catalogue import built_in
from tests.support.jobs import CREATED, make_job, make_spec

CATALOGUE = built_in()
T4 = MachineSpec("n1-standard-4", "NVIDIA_TESLA_T4", 2)
INCLUDING = MachineSpec("standard_gpu")
PRICES = Prices("EUR", {"n1-standard-4": 0.2}, {"NVIDIA_TESLA_T4": 0.5})
HOUR = timedelta(hours=1)


def test_all_replicas_count() -> None:
    spec = make_spec(workers=2, machine=T4)
    assert hours_of(spec, CATALOGUE, 1800) == MachineHours(
        {"n1-standard-4": 1.5}, {"NVIDIA_TESLA_T4": 3.0}
    )


def test_accelerators_that_a_machine_type_includes_count() -> None:
    assert hours_of(make_spec(machine=INCLUDING), CATALOGUE) == MachineHours(
        {"standard_gpu": 1.0}, {"NVIDIA_TESLA_K80": 1.0}
    )


def test_jobs_count_from_their_start_to_their_end_or_until_now() -> None:
    waiting = make_job("projects/p/jobs/w", spec=make_spec(machine=T4))
    running = replace(waiting, start_time=CREATED)
    ended = replace(running, start_time=CREATED + HOUR, end_time=CREATED + 1.5 * HOUR)
    now = CREATED + 4 * HOUR
    assert hours_used([waiting], CATALOGUE, now) == MachineHours()
    assert hours_used([waiting, running, ended], CATALOGUE, now).machines == {"n1-standard-4": 4.5}
    assert hours_used([running], CATALOGUE, CREATED - HOUR) == MachineHours()


def test_sums() -> None:
    first, second = MachineHours({"a": 1.0}, {}), MachineHours({"a": 2.0, "b": 1.0}, {"x": 3.0})
    assert add(first, second, 2) == MachineHours({"a": 5.0, "b": 2.0}, {"x": 6.0})


def test_a_cost_needs_all_prices() -> None:
    hours = MachineHours({"n1-standard-4": 10}, {"NVIDIA_TESLA_T4": 4})
    assert PRICES.cost(hours) == pytest.approx(4.0)
    assert PRICES.cost(MachineHours({"n1-standard-8": 1})) is None
    assert PRICES.cost(MachineHours({"n1-standard-4": 1}, {"TPU_V3": 1})) is None
    assert NO_PRICES.cost(MachineHours()) is None


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        (MachineHours({"a": 1}), "1 machine-hour"),
        (MachineHours({"a": 0.004}), "< 0.01 machine-hours"),
        (
            MachineHours({"a": 1200.5, "b": 1}, {"x": 1}),
            "1,201.5 machine-hours and 1 accelerator-hour",
        ),
        (MachineHours({"a": 100}), "100 machine-hours"),
    ],
)
def test_hours_are_said(hours: MachineHours, expected: str) -> None:
    assert say_hours(hours) == expected
    assert say_cost(1234.567, "EUR") == "1,234.57 EUR"


def test_prices_are_read() -> None:
    table = {"currency": "EUR", "machines": {"n1-standard-4": 1}}
    assert read_prices(table) == Prices("EUR", {"n1-standard-4": 1.0}, {})


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ({"machines": {}}, "prices.currency"),
        ({"currency": "<b>"}, "prices.currency"),
        ({"currency": "EUR", "machine": {}}, "prices.machine"),
        ({"currency": "EUR", "machines": 3}, "prices.machines"),
        ({"currency": "EUR", "machines": {"a": -1}}, "prices.machines.a"),
        ({"currency": "EUR", "accelerators": {"a": "1"}}, "prices.accelerators.a"),
        ({"currency": "EUR", "accelerators": {"a": True}}, "prices.accelerators.a"),
        ({"currency": "EUR", "accelerators": {"a": float("inf")}}, "prices.accelerators.a"),
    ],
)
def test_wrong_prices_are_named(table: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        read_prices(table)
    assert [each.field for each in caught.value.violations] == [field]


def test_prices_are_a_table() -> None:
    with pytest.raises(TypeError):
        read_prices("EUR")
