"""Pages on a phone and on a tablet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from footplate.testing.service import RunningService
from tests.console.conftest import LONG
from tests.console.screens import cut_off_tables

if TYPE_CHECKING:
    from playwright.sync_api import Page


_COVERED = """() => [...document.querySelectorAll("[data-copy], .copy")].flatMap((button) => {
  const text = button.parentElement.querySelector("code");
  const range = document.createRange();
  range.selectNodeContents(text);
  const box = button.getBoundingClientRect();
  const under = (rect) => rect.right > box.left && rect.bottom > box.top && rect.top < box.bottom;
  return [...range.getClientRects()].some(under) ? [text.textContent] : [];
})"""
"""Texts that reach below the button that copies them, or beyond."""


@pytest.mark.parametrize("path", ["/experiments", f"/jobs/{LONG}"])
def test_no_text_is_below_its_button(page: Page, service: RunningService, path: str) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    page.goto(f"{service.url}{path}")
    if path != "/experiments":
        page.get_by_role("tab", name="gcloud").click()
    page.get_by_role("button", name="Copy").first.wait_for()
    assert page.evaluate(_COVERED) == []


@pytest.mark.parametrize(
    ("path", "width"),
    [
        ("/jobs", 400),
        ("/jobs", 800),
        (f"/jobs/{LONG}", 400),
        ("/system", 400),
        ("/system/changes", 400),
    ],
)
def test_tables_fit(page: Page, service: RunningService, path: str, width: int) -> None:
    made = {"name": f"a-bucket-of-a-rather-long-name-{width}"}
    buckets = f"{service.url}/storage/v1/b?project=demo"
    assert httpx.post(buckets, json=made, timeout=60).status_code in (200, 409)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{service.url}{path}")
    page.locator("main .scroll").first.wait_for()
    assert cut_off_tables(page) == []


def test_what_is_missing_stands_below_its_heading(page: Page, guarded: RunningService) -> None:
    page.goto(f"{guarded.url}/capacity")
    page.get_by_label("Token").fill("sesame")
    page.keyboard.press("Enter")
    notices = page.locator("main .notice")
    notices.first.wait_for()
    page.wait_for_load_state()  # all notices and headings are there
    left = "all => [...new Set(all.map((each) => each.getBoundingClientRect().left))]"
    assert notices.evaluate_all(left) == page.locator("main h2").evaluate_all(left)
