"""Buckets in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from playwright.sync_api import expect

from footplate.testing.service import RunningService
from tests.console.conftest import HOSTILE, PAGE_NAME
from tests.console.screens import look

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FRAGMENT = {"HX-Request": "true"}


def test_it_looks_right(browser: Browser, service: RunningService) -> None:
    look(browser, f"{service.url}/buckets", "buckets", "#buckets", brief=True)
    look(browser, f"{service.url}/buckets/long?folder=out/", "bucket", "#objects", brief=True)


def test_files_are_uploaded_downloaded_and_deleted(
    page: Page, service: RunningService, tmp_path: Path
) -> None:
    made = {"name": "uploads-here"}
    httpx.post(f"{service.url}/storage/v1/b?project=demo", json=made, timeout=60).raise_for_status()
    page.goto(f"{service.url}/buckets")
    page.get_by_role("link", name="gs://uploads-here").click()
    expect(page.locator("main")).to_contain_text("This folder has no objects yet")
    page.goto(f"{service.url}/buckets/uploads-here?folder=data/%C3%A4%20b/")
    files = [tmp_path / "ä #1?.csv", tmp_path / "page.html"]
    for file in files:
        file.write_text(HOSTILE, "utf-8")
    page.get_by_label("Files").set_input_files(files)
    page.get_by_role("button", name="Upload").click()
    objects = page.locator("#objects")
    expect(objects.get_by_role("rowheader")).to_have_text(["page.html", "ä #1?.csv"])
    with page.expect_download() as download:
        objects.get_by_role("link", name="ä #1?.csv").click()
    assert download.value.path().read_text("utf-8") == HOSTILE
    assert download.value.suggested_filename.startswith("ä #1")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete page.html").click()
    expect(objects.get_by_role("rowheader")).to_have_text(["ä #1?.csv"])
    expect(page).to_have_url(re.compile(r"uploads-here\?folder=data"))
    page.get_by_role("link", name="data", exact=True).click()
    expect(objects.get_by_role("rowheader")).to_have_text(["ä b/"])


def test_many_objects_come_in_pages_and_none_is_shown(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/buckets/long?folder=out/many/")
    expect(page.locator("#objects tbody tr")).to_have_count(200)
    page.get_by_role("link", name="More objects").click()
    expect(page.locator("#objects tbody tr")).to_have_count(50)
    url = f"{service.url}/buckets/long/object"
    answer = httpx.get(url, params={"name": f"out/{PAGE_NAME}"}, headers={"Accept": "text/html"})
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")


def test_what_can_not_be_done_is_said(service: RunningService, guarded: RunningService) -> None:
    with httpx.Client(base_url=service.url, headers={"Accept": "text/html"}) as client:
        none = client.get("/buckets/no-such-bucket")
        assert (none.status_code, "no-such-bucket" in none.text) == (404, True)
        assert client.get("/buckets/long/object", params={"name": "nothing"}).status_code == 404
        foreign = client.post("/buckets/long/upload", params={"name": "x"}, content=b"x")
        assert foreign.status_code == 403
        foreign = client.post("/buckets/long/delete", data={"name": f"out/{PAGE_NAME}"})
        assert foreign.status_code == 403
        wrong = {"name": "a\nb"}
        refused = client.post("/buckets/long/upload", params=wrong, content=b"", headers=FRAGMENT)
        assert refused.status_code == 400
        assert "line" in refused.json()["error"]["message"]
    closed = httpx.post(f"{guarded.url}/buckets/b/upload?name=x", content=b"x", headers=FRAGMENT)
    assert closed.status_code == 401
