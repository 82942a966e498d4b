"""What the page on usage by day draws."""

from __future__ import annotations

from datetime import date
from typing import Any

from footplate.console.capacity_view import MACHINES, Bar, make_chart, sum_projects

FIRST, LAST = date(2026, 3, 1), date(2026, 3, 4)


def day(number: int, project: str, hours: float, cost: float | None = None) -> dict[str, Any]:
    priced = {} if cost is None else {"cost": cost, "currency": "EUR"}
    machines = {"n1-standard-4": hours / 2, "n1-standard-8": hours / 2}
    return {
        "date": f"2026-03-{number:02}",
        "project": project,
        "machineHours": machines,
        "acceleratorHours": {},
        **priced,
    }


DAYS = [day(1, "ads", 2, 1.5), day(1, "vision", 6), day(4, "ads", 4, 0.5), day(4, "vision", 0)]


def test_projects_are_summed_and_the_one_with_most_hours_is_first() -> None:
    vision, ads = sum_projects([*DAYS, day(3, "vision", 1, 9.0)])
    assert (vision.project, vision.look, vision.machine_hours) == ("vision", "r0", 7)
    assert (vision.cost, vision.currency, vision.unpriced) == (9.0, "EUR", 2)
    assert (ads.project, ads.look, ads.machine_hours, ads.cost) == ("ads", "r1", 6, 2.0)
    many = sum_projects([day(1, f"p{number}", 9 - number) for number in range(9)])
    assert [each.look for each in many] == [*(f"r{place}" for place in range(7)), "r7", "r7"]


def test_the_parts_of_a_day_stand_on_each_other() -> None:
    chart = make_chart("Hours", FIRST, LAST, DAYS, MACHINES, {"vision": "r0", "ads": "r1"})
    assert (chart.title, chart.most) == ("Hours", 8)
    assert chart.bars == (
        Bar(18.75, 25.0, 212.5, 75.0, "r0", "2026-03-01 vision: 6"),
        Bar(18.75, 0.0, 212.5, 25.0, "r1", "2026-03-01 ads: 2"),
        Bar(768.75, 50.0, 212.5, 50.0, "r1", "2026-03-04 ads: 4"),
    )


def test_nothing_was_used() -> None:
    assert make_chart("Hours", FIRST, LAST, [], MACHINES, {}).bars == ()
