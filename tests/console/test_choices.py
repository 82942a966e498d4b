"""Several jobs at once in a browser: compared, and deleted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
from playwright.sync_api import expect

from footplate.testing.service import RunningService
from tests.console.conftest import HOSTILE, LONG
from tests.console.screens import check_accessibility, look

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CUSTOM = "projects/demo/locations/us-central1/customJobs"
HTML = {"Accept": "text/html"}
_READ_AGAIN = """async () => {
  await htmx.ajax("GET", "/jobs", {target: "#rows", swap: "outerHTML"});
  return [...document.querySelectorAll('input[name="job"]:checked')].map((box) => box.value);
}"""
"""Replaces the rows; returns the jobs that are ticked before any timer of the page runs."""


def test_it_looks_right(browser: Browser, service: RunningService) -> None:
    chosen = f"job={LONG}&job={CUSTOM}/8998&job=projects/vision/jobs/train_3"
    look(browser, f"{service.url}/jobs/compare?{chosen}", "compare", "#different", brief=True)
    look(browser, f"{service.url}/jobs/delete?{chosen}", "delete", "#chosen-jobs", brief=True)


def test_ticked_jobs_stay_ticked_and_are_compared(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs")
    compare, delete = (page.get_by_role("button", name=each) for each in ("Compare", "Delete"))
    expect(compare).to_be_disabled()
    expect(delete).to_be_disabled()
    boxes = page.locator('input[name="job"]')
    names = [boxes.nth(at).get_attribute("value") for at in (2, 5)]
    for at in (2, 5):
        boxes.nth(at).check()
    expect(page.locator("#chosen-count")).to_have_text("2 chosen")
    assert page.evaluate(_READ_AGAIN) == names
    page.get_by_label("Choose all of this page").check()
    expect(page.locator("#chosen-count")).to_have_text("50 chosen")
    expect(compare).to_be_disabled()
    page.get_by_label("Choose all of this page").uncheck()
    for at in (2, 5):
        boxes.nth(at).check()
    check_accessibility(page)
    compare.click()
    expect(page).to_have_url(re.compile(r"/jobs/compare\?job=.*&job="))
    links = page.locator("#runs-compared thead a")
    for at, name in enumerate(names):
        expect(links.nth(at)).to_have_attribute("href", f"/jobs/{name}")
    expect(page.locator("#runs-compared")).to_contain_text("restarts")
    expect(page.locator("img")).to_have_count(0)


def test_jobs_of_all_kinds_are_deleted_after_a_question(
    page: Page, service: RunningService
) -> None:
    names = [f"{CUSTOM}/8900", "projects/vision/jobs/train_108"]
    query = "&".join(f"job={name}" for name in (*names, f"{CUSTOM}/1"))
    page.goto(f"{service.url}/jobs/delete?{query}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Delete 2 jobs?")
    expect(page.get_by_role("row", name=f"{CUSTOM}/1")).to_contain_text("does not exist")
    page.get_by_role("button", name="Delete 2 jobs").click()
    expect(page).to_have_url(f"{service.url}/jobs")
    for name in names:
        assert httpx.get(f"{service.url}/footplate/v1/{name}/details").status_code == 404

    page.goto(f"{service.url}/jobs/{CUSTOM}/8896")
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete 1 job").click()
    expect(page).to_have_url(f"{service.url}/jobs")


def test_what_was_chosen_wrongly_is_said(service: RunningService) -> None:
    with httpx.Client(base_url=service.url, headers=HTML, timeout=60) as client:
        for count in (0, 1, 6):
            asked = {"job": [f"{CUSTOM}/{9000 - number}" for number in range(1, 1 + count)]}
            answer = client.get("/jobs/compare", params=asked)
            assert (answer.status_code, "choose 2 to 5" in answer.text) == (400, True)
        assert client.get("/jobs/compare", params={"job": ["a/b", LONG]}).status_code == 404
        assert "No job is chosen" in client.get("/jobs/delete").text
        hostile = client.get("/jobs/delete", params={"job": HOSTILE}).text
        assert "<img src=x" not in hostile
        foreign = client.post("/jobs/delete", data={"job": LONG})
        assert foreign.status_code == 403
        assert client.get(f"/footplate/v1/{LONG}/details").status_code == 200
