"""The page of a job in a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from tests.console.conftest import HOSTILE, LINES, LONG, SLOW
from tests.console.screens import check_accessibility, look

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from footplate.testing.service import RunningService
    from tests.e2e.service.conftest import Context

PATIENCE_MS = 240_000
FAILING = f"""
import sys, time
print("\\x1b[32mgreen\\x1b[0m", {HOSTILE!r}, flush=True)
for step in range(100):
    print("step", step)
sys.stdout.flush()
time.sleep(2)
raise ValueError({HOSTILE!r})
"""
LASTING = """
import time
for step in range(100000):
    print("tick", step, flush=True)
    time.sleep(0.1)
"""


@pytest.fixture(scope="module")
def failed(context: Context) -> TrainingJobName:
    name = context.submit(FAILING)
    context.wait_for(name, State.FAILED)
    return name


def lines(page: Page) -> list[str]:
    found: list[str] = page.locator("#log .message").all_text_contents()
    return found


def test_it_looks_right(browser: Browser, service: RunningService, failed: TrainingJobName) -> None:
    look(browser, f"{service.url}/jobs/{failed}", "job", "figure canvas")
    look(browser, f"{service.url}/jobs/{LONG}", "job-long", ".line", brief=True)


def test_what_users_wrote_never_runs(
    page: Page, service: RunningService, failed: TrainingJobName
) -> None:
    page.goto(f"{service.url}/jobs/{failed}")
    expect(page.locator(".verdict")).to_contain_text(HOSTILE)
    expect(page.locator(".replicas")).to_contain_text(HOSTILE)
    expect(page.locator("#log")).to_contain_text(HOSTILE)
    expect(page.locator("#log .ansi-f2")).to_be_attached()
    page.goto(f"{service.url}/jobs/{LONG}")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"long {HOSTILE}")
    expect(page.locator("#events")).to_contain_text(HOSTILE)
    expect(page).to_have_title(f"long {HOSTILE} · Footplate")
    expect(page.locator("img")).to_have_count(0)


def test_a_running_job_is_followed_and_cancelled(page: Page, context: Context) -> None:
    name = context.submit(LASTING)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{context.service.url}/jobs/{name}")
    job = page.locator("#job")
    expect(job).to_have_attribute("data-state", "RUNNING", timeout=PATIENCE_MS)
    expect(page.locator("#log")).to_contain_text("tick 5")
    expect(page.locator("#log")).to_contain_text("tick 25")
    expect(page.locator("figure canvas").first).to_be_visible(timeout=60_000)
    check_accessibility(page)
    page.get_by_role("button", name="Cancel").click()
    expect(job).to_have_attribute("data-state", "CANCELLED")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.locator("#events")).to_contain_text("cancelled")


def test_a_job_runs_again(page: Page, context: Context, failed: TrainingJobName) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{context.service.url}/jobs/{failed}")
    page.get_by_role("button", name="Run again").click()
    expect(page).to_have_url(re.compile(rf"/jobs/{failed}_[0-9a-f]{{6}}$"))
    again = TrainingJobName("demo", page.url.rpartition("/")[2])
    context.wait_for(again, State.FAILED)
    assert len(context.messages(again)) == len(context.messages(failed))


def test_a_long_log_is_read_from_any_place(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    log = page.locator("#log")
    expect(log).to_contain_text(HOSTILE)  # the last line
    page.get_by_role("button", name="Start", exact=True).click()
    expect(log.locator(".message").first).to_have_text("step 0 red")
    for _ in range(12):
        log.evaluate("box => box.scrollTop = box.scrollHeight")
        page.wait_for_timeout(100)
    expect(log.locator(".message").first).not_to_have_text("step 0 red")
    found = [int(text.split()[1]) for text in lines(page)]
    assert found == list(range(found[0], found[-1] + 1)), "lines are missing or doubled"
    assert len(found) <= 1500

    page.get_by_role("slider", name="Position in the log").fill("500")
    middle = re.compile(r"step (2[5-9]|3[0-4])\d{3} red")  # of 60,000
    expect(log.locator(".message").first).to_have_text(middle)
    page.get_by_role("button", name="First error").click()
    expect(log.locator(".current")).to_contain_text("step 54321")
    expect(page).to_have_url(re.compile(r"#line-\d+$"))
    address = page.url
    page.get_by_label("Search the log").fill("STEP 54400")
    page.keyboard.press("Enter")
    expect(log.locator(".current mark")).to_have_text("step 54400")
    page.goto("about:blank")
    page.goto(address)
    expect(log.locator(".current")).to_contain_text("step 54321")


def test_lines_are_chosen(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    log = page.locator("#log")
    page.get_by_label("Least severity").select_option("ERROR")
    expect(log.locator(".line")).to_have_count(1)
    expect(log).to_contain_text("step 54321")
    page.get_by_label("Least severity").select_option("")
    page.get_by_role("button", name="worker-replica-0").click()
    expect(log.locator(".line")).to_have_count(2)
    expect(log).to_contain_text(HOSTILE)
    page.get_by_role("button", name="attempt 1").click()
    expect(page.locator("#log-status")).to_have_text("No line matches.")
    page.get_by_role("button", name="attempt 2").click()
    expect(log.locator(".line")).to_have_count(2)
    page.evaluate("() => document.body.dispatchEvent(new CustomEvent('htmx:afterSettle'))")
    expect(page.get_by_role("button", name="attempt 2")).to_have_attribute("aria-pressed", "true")


def test_lines_are_found_by_regular_expressions(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    log, search = page.locator("#log"), page.get_by_label("Search the log")
    expect(log).to_contain_text(HOSTILE)
    page.get_by_label("regex").check()
    search.fill(r"STEP 5443[0-4] r\w+$")
    page.get_by_label("only matches").check()
    expect(log.locator(".line")).to_have_count(5)
    expect(log.locator(".line").first.locator("mark")).to_have_text(["step 54430 ", "red"])


def test_a_slow_or_wrong_expression_stops_nothing(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    log, search = page.locator("#log"), page.get_by_label("Search the log")
    expect(log).to_contain_text(HOSTILE)
    page.get_by_label("regex").check()
    search.fill("(a+)+$")
    page.get_by_role("button", name="Previous match").click()
    page.get_by_role("button", name="Start", exact=True).click()  # the page goes on meanwhile
    expect(log.locator(".message").first).to_have_text("step 0 red")
    page.get_by_role("button", name="Follow").click()
    expect(log).to_contain_text(HOSTILE)
    expect(page.locator("#log-status")).to_contain_text("takes too long")
    page.get_by_label("only matches").check()
    expect(page.locator("#problem")).to_contain_text("takes too long")
    search.fill("(")
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_contain_text("Invalid regular expression")
    search.fill("^a+!$")
    page.keyboard.press("Enter")
    expect(log.locator(".current mark")).to_have_text(SLOW)
    expect(page.locator("#problem")).to_be_hidden()


def test_the_definition_has_tabs(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    page.get_by_role("tab", name="Request").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="gcloud")).to_be_focused()
    expect(page.get_by_role("tabpanel")).to_contain_text("gcloud ai-platform jobs submit training")
    page.keyboard.press("ArrowLeft")
    values = page.get_by_role("table", name="What the service made of the request, and why")
    expect(values).to_contain_text("default of both of Google's services: a week")


def test_a_log_is_downloaded(service: RunningService) -> None:
    answer = httpx.get(f"{service.url}/jobs/{LONG}/log.txt", headers={"Accept": "text/html"})
    assert answer.headers["content-disposition"] == 'attachment; filename="log.txt"'
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(answer.text.splitlines()) == LINES


def test_a_job_that_is_deleted_meanwhile_is_said(page: Page, service: RunningService) -> None:
    name = "projects/demo/locations/us-central1/customJobs/8996"
    page.goto(f"{service.url}/jobs/{name}")
    expect(page.locator("#job")).to_be_visible()
    assert httpx.delete(f"{service.url}/v1/{name}").status_code == 200
    page.evaluate("() => document.body.dispatchEvent(new CustomEvent('footplate:change'))")
    expect(page.locator("#problem")).to_contain_text("does not exist")
    page.reload()
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
