"""The page on the service itself in a browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
from playwright.sync_api import expect

from footplate.replica.cache_locks import MARKER
from footplate.testing.service import RunningService
from tests.console.conftest import HOSTILE, LONG
from tests.console.screens import check_accessibility, look

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def test_it_looks_right(browser: Browser, service: RunningService) -> None:
    look(browser, f"{service.url}/system", "system", "#runtimes", brief=True)


def test_it_says_how_the_service_is_and_who_calls(page: Page, service: RunningService) -> None:
    agent = HOSTILE.replace("\n", " ")
    httpx.get(f"{service.url}/healthz", headers={"User-Agent": agent}, timeout=60)
    page.goto(f"{service.url}/system")
    expect(page.get_by_text("Healthy")).to_be_visible()
    expect(page.locator("#servers")).to_contain_text("leads")
    expect(page.locator("#limits")).to_contain_text("checked, not reserved")
    expect(page.locator("#callers tbody tr").first).to_be_visible()
    expect(page.locator("#runtimes")).to_contain_text("sklearn-cpu.1-9.py311")
    expect(page.locator("#enforced tr", has_text="memory")).to_contain_text("emulate mode")
    expect(page.get_by_text("The server has no token")).to_be_visible()
    expect(page.locator("img")).to_have_count(0)
    expect(page).to_have_title("System · Footplate")


def test_it_lists_environments_whose_names_are_text(guarded: RunningService) -> None:
    layer = guarded.data_dir / "cache" / "layers" / ("e" * 32)
    layer.mkdir(parents=True)
    record = {"path": str(layer.resolve()), "runtime": HOSTILE, "packages": [HOSTILE], "bytes": 5}
    (layer / MARKER).write_text(json.dumps(record))
    with httpx.Client(base_url=guarded.url, headers={"Accept": "text/html"}) as client:
        client.post("/sign-in", data={"token": "sesame"})
        text = client.get("/system").text
        closed = f"{guarded.url}/system/changes"
        assert httpx.get(closed, headers={"Accept": "text/html"}).status_code == 303
    assert "packages: &lt;img src=x" in text
    assert "<img src=x" not in text
    assert (
        "Everyone who has the server&#39;s token" in text
        or "Everyone who has the server's token" in text
    )


def test_changes_name_who_called(page: Page, service: RunningService) -> None:
    headers = {"User-Agent": HOSTILE}
    buckets = f"{service.url}/storage/v1/b"
    httpx.post(f"{buckets}?project=demo", json={"name": "audited"}, timeout=60).raise_for_status()
    httpx.delete(f"{buckets}/audited", headers=headers, timeout=60).raise_for_status()
    cancel = f"{service.url}/jobs/{LONG}/cancel"  # it has ended: that changes nothing
    httpx.post(cancel, headers={"HX-Request": "true"}, timeout=60).raise_for_status()
    page.goto(f"{service.url}/system/changes")
    rows = page.locator("#changes tbody tr")
    expect(rows.filter(has_text="audited").first).to_contain_text("delete")
    expect(rows.filter(has_text="the console").first).to_contain_text("cancel")
    expect(page.locator("img")).to_have_count(0)
    check_accessibility(page)
