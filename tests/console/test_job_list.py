"""The list of jobs in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from footplate.testing.service import RunningService
from tests.console.conftest import HOSTILE
from tests.console.screens import check_accessibility, look, weigh

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_CHANGE_AFTER_ROWS = """async () => {
  await htmx.ajax("GET", "/jobs", {target: "#rows", swap: "outerHTML"});
  document.body.dispatchEvent(new CustomEvent("footplate:change"));
  return document.getElementById("rows").classList.contains("htmx-request");
}"""
"""Replaces the rows, and announces a change at once; returns whether the rows are read again."""


def test_it_looks_right(browser: Browser, service: RunningService) -> None:
    look(browser, f"{service.url}/jobs", "jobs", "tbody tr")
    look(browser, f"{service.url}/jobs?q=nothing", "jobs-none", "text=No job matches", brief=True)
    look(browser, f"{service.url}/connect", "connect", "h1", brief=True)


def test_it_is_light(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs")
    expect(page.locator("tbody tr")).to_have_count(50)
    assert 10_000 < weigh(page) < 80_000


def test_it_is_turned_and_filtered_by_its_url(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs?label=team%3Dads")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_role("link", name="Older").click()
    expect(rows).to_have_count(10)
    expect(page.get_by_role("link", name="Older")).to_have_count(0)
    page.get_by_role("link", name="Newest").click()
    expect(rows).to_have_count(50)

    page.wait_for_load_state()  # the filters have their script
    page.get_by_label("State").select_option("CANCELLED")
    expect(page).to_have_url(re.compile(r"/jobs\?state=CANCELLED&label=team%3Dads$"))
    expect(rows).to_have_count(30)
    page.wait_for_load_state()
    page.get_by_label("Name").fill("imagenet 11")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?q=imagenet\+11&state=CANCELLED&label=team%3Dads$"))
    expect(rows).to_have_count(4)
    page.go_back()
    expect(rows).to_have_count(30)
    page.get_by_role("link", name="Clear").click()
    expect(rows).to_have_count(50)
    page.get_by_role("link", name="team=ads").first.click()
    expect(page.get_by_label("Label")).to_have_value("team=ads")


def test_it_is_sorted_by_its_columns(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs?kind=customJobs")
    page.get_by_role("link", name="Name", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?kind=customJobs&order=name$"))
    titles = page.locator("tbody th a[id]")
    heading = page.get_by_role("columnheader", name="Name")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    page.wait_for_load_state()  # all rows are there, and the keys have their script
    first = titles.all_inner_texts()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("page=50"))
    page.wait_for_load_state()
    every = [each.casefold() for each in (*first, *titles.all_inner_texts())]
    assert every == sorted(every)
    assert len(set(every)) > 60
    heading.get_by_role("link").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(page).to_have_url(re.compile(r"\?kind=customJobs&order=-name$"))
    page.wait_for_load_state()
    page.get_by_label("State").select_option("FAILED")
    expect(page).to_have_url(re.compile(r"state=FAILED&.*order=-name"))
    page.get_by_role("link", name="Age", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?state=FAILED&kind=customJobs$"))


def test_authors_are_a_column_where_there_are_several(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs?q=ImageNet")  # other tests submit jobs, too
    authors = page.locator('#rows td[data-title="Author"]')
    expect(authors.first).to_have_text("bob")
    expect(authors.last).to_have_text("ann")
    authors.last.get_by_role("link").click()
    expect(page).to_have_url(re.compile("author=ann"))
    expect(page.get_by_label("Author", exact=True)).to_have_value("ann")
    page.wait_for_load_state()
    assert set(authors.all_text_contents()) == {"ann"}
    page.locator("#rows tbody a").first.click()
    expect(page.locator("dt", has_text="Author").locator("..")).to_contain_text("ann")
    page.goto(f"{service.url}/jobs?q=long")
    expect(page.locator("#rows tbody tr").first).to_be_visible()
    expect(authors).to_have_count(0)


def test_rows_that_were_replaced_follow_changes_at_once(
    page: Page, service: RunningService
) -> None:
    page.goto(f"{service.url}/jobs")
    assert page.evaluate(_CHANGE_AFTER_ROWS) is True


def test_older_and_newer_pages_by_keys(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs")
    names = page.locator("tbody th a[id]")
    expect(page.get_by_role("link", name="Newer")).to_have_count(0)
    newest = names.first.inner_text()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"\?page="))
    page.wait_for_load_state()
    second = names.all_inner_texts()
    page.keyboard.press("n")
    expect(names.first).not_to_have_text(second[0])
    page.wait_for_load_state()
    page.keyboard.press("p")
    expect(names.first).to_have_text(second[0])
    page.wait_for_load_state()
    page.evaluate("document.body.dispatchEvent(new CustomEvent('footplate:change'))")
    assert names.all_inner_texts() == second
    page.get_by_role("link", name="Newer").click()
    expect(page).to_have_url(f"{service.url}/jobs")
    expect(names.first).to_have_text(newest)


def test_the_keyboard_is_enough(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("train_3")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("q=train_3"))


def test_what_users_wrote_never_runs(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs")
    expect(page.get_by_role("link", name=HOSTILE, exact=True)).to_be_visible()
    page.get_by_role("link", name="hostile=").first.click()
    expect(page.locator("tbody tr")).to_have_count(50)
    expect(page).to_have_title("Jobs · Footplate")
    expect(page.locator("img")).to_have_count(0)


def test_times_are_in_the_zone_of_the_reader(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs")
    expect(page.locator("td time").first).to_have_attribute("title", re.compile(r"E[DS]T$"))
    expect(page.locator("td time").first).to_have_text(re.compile(r"^\d+ (s|min) ago$"))


def test_the_theme_is_kept(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs")
    page.get_by_role("button", name="Switch between light and dark").click()
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    check_accessibility(page)
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")


def test_signing_in_and_out(page: Page, guarded: RunningService, browser: Browser) -> None:
    look(browser, f"{guarded.url}/sign-in", "sign-in", "form", brief=True)
    page.goto(f"{guarded.url}/jobs?state=FAILED")
    page.get_by_label("Token").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="not the token of the server")).to_be_visible()
    page.get_by_label("Token").fill("sesame")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{guarded.url}/jobs?state=FAILED")
    page.goto(f"{guarded.url}/jobs")
    expect(page.get_by_text("No jobs yet")).to_be_visible()
    form = page.locator(".notice").get_by_role("link", name="Submit a job")
    expect(form).to_have_attribute("href", "/submit")
    look(browser, f"{guarded.url}/jobs", "jobs-empty", "h2", page.context.cookies(), brief=True)
    page.context.clear_cookies()
    page.evaluate("document.body.dispatchEvent(new CustomEvent('footplate:change'))")
    expect(page).to_have_url(re.compile("/sign-in"))
    page.get_by_label("Token").fill("sesame")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No jobs yet")).to_be_visible()
    page.wait_for_load_state()  # the button has its script
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{guarded.url}/sign-in")


@pytest.mark.parametrize("name", ["console.js", "vendor/htmx.min.js"])
def test_a_page_needs_no_script_to_be_read(
    browser: Browser, service: RunningService, name: str, tmp_path: Path
) -> None:
    context = browser.new_context()
    context.route(f"**/{name}", lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{service.url}/jobs")
    expect(page.locator("tbody tr")).to_have_count(50)
    context.close()
