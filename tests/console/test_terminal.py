"""A terminal in a replica, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from tests.console.screens import check_accessibility, look
from tests.e2e.service.conftest import Context

if TYPE_CHECKING:
    from playwright.sync_api import Page

STAYING = """
import time
while True:
    time.sleep(0.1)
"""
MASTER = "master-replica-0"


@pytest.fixture(scope="module")
def running(context: Context) -> Iterator[TrainingJobName]:
    name = context.submit(STAYING, enableWebAccess=True)
    context.wait_for(name, State.RUNNING)
    yield name
    httpx.post(f"{context.service.url}/v1/{name}:cancel", json={})


def test_a_job_s_page_leads_to_a_terminal(
    page: Page, context: Context, running: TrainingJobName
) -> None:
    page.goto(f"{context.service.url}/jobs/{running}")
    link = page.get_by_role("link", name="shell", exact=True)
    expect(link).to_be_visible()
    page.goto(f"{context.service.url}{link.get_attribute('href')}")
    expect(page).to_have_title(f"{MASTER} \u00b7 Footplate")
    rows = page.locator(".xterm-rows")
    expect(page.locator("#shell-status")).to_have_text("")
    page.locator(".xterm-helper-textarea").focus()
    page.keyboard.type(
        "printf '\\033[38;2;250;20;40mcol\\033[0m\\033[1mour\\033[0m\\n'; stty size\n"
    )
    expect(rows).to_contain_text("colour")
    red = rows.locator("span", has_text="col").last
    expect(red).to_have_css("color", "rgb(250, 20, 40)")
    check_accessibility(page)
    page.locator(".xterm-helper-textarea").focus()
    page.keyboard.press("Control+Shift+Escape")
    expect(page.get_by_text("Open this shell in your own terminal")).to_be_focused()

    page.locator(".xterm-helper-textarea").focus()
    page.keyboard.type("exit 3\n")
    expect(page.locator("#shell-status")).to_have_text("The shell has ended with exit code 3.")
    page.get_by_role("button", name="Open another shell").click()
    expect(page.locator("#shell-status")).to_have_text("")


def test_it_looks_right(page: Page, context: Context, running: TrainingJobName) -> None:
    browser = page.context.browser
    assert browser is not None
    with context.client() as client:
        output = client.job(running).resource["trainingOutput"]
    assert isinstance(output, dict)
    uris = output["webAccessUris"]
    assert isinstance(uris, dict)
    look(browser, str(uris[MASTER]), "terminal", ".xterm-rows", brief=True)


def test_an_address_that_was_never_given_out_is_refused(context: Context) -> None:
    url = f"{context.service.url}/terminal/never"
    answer = httpx.get(url, headers={"Accept": "text/html"})
    assert answer.status_code == 403
