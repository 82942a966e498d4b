"""The page on usage by day in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from footplate.testing.service import RunningService
from tests.console.screens import cut_off_tables, look

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def test_it_looks_right(browser: Browser, service: RunningService) -> None:
    look(browser, f"{service.url}/capacity/usage", "usage", "#days")


def test_it_shows_what_projects_used_on_which_day(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/capacity")
    page.get_by_role("link", name="Usage by day").click()
    expect(page).to_have_title("Usage by day · Footplate")
    rows = page.locator("#projects tbody tr")
    expect(rows.get_by_role("rowheader")).to_have_text(["demo", "vision"])
    expect(page.get_by_role("img", name="Machine-hours of each day")).to_be_visible()
    expect(page.get_by_role("img", name="Accelerator-hours of each day")).to_be_visible()
    expect(page.locator("#days tbody tr").first).to_contain_text("NVIDIA_TESLA_A100")
    page.get_by_role("textbox", name="Project").fill("vision")
    page.get_by_role("button", name="Show").click()
    expect(rows).to_have_count(1)
    expect(page.get_by_text("footplate usage --start-date=")).to_contain_text("--project=vision")
    page.set_viewport_size({"width": 400, "height": 900})
    assert cut_off_tables(page) == []


def test_times_beside_it_are_a_click_away(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/capacity/usage")
    first = page.get_by_label("From").input_value()
    expect(page.get_by_role("link", name="Later")).to_have_count(0)
    page.get_by_role("link", name="Earlier").click()
    expect(page.get_by_text("No job ran on these days")).to_be_visible()
    assert page.get_by_label("To").input_value() < first
    page.get_by_role("link", name="Later").click()
    expect(page.get_by_label("From")).to_have_value(first)
    page.goto(f"{service.url}/capacity/usage?startDate=2020-01-01")
    expect(page.get_by_text("startDate: 2020-01-01 given; allowed: a day from")).to_be_visible()
