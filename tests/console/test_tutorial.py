"""The console's tutorial: its commands are run, its pages have what it says, and are its pictures.

``TUTORIAL_PICTURES=1`` writes them beside the tutorial.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from footplate.testing.service import RunningService, running_service
from tests.console.screens import PICTURES
from tests.docs import walk
from tests.e2e.service.conftest import CACHE

if TYPE_CHECKING:
    from playwright.sync_api import Page

TUTORIAL = walk.ROOT / "docs" / "tutorials" / "console.md"
KEPT = TUTORIAL.parent / "pictures"
MAX_BYTES = 150_000
_SHORTEN = """(log, path) => {
  const texts = document.createTreeWalker(log, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(path, "~");
}"""
"""Where this machine keeps environments is in tracebacks, and nothing for the documentation."""


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service to which the tutorial's commands have sent their jobs."""
    folder = tmp_path_factory.mktemp("tutorial")
    blocks = walk.BLOCK.findall(TUTORIAL.read_text("utf-8"))
    text = "".join(f"```{kind}\n{block}```\n" for kind, block in blocks if " up\n" not in block)
    with running_service(folder / "data", CACHE) as service:
        environment = walk.reader(folder, FOOTPLATE_URL=service.url)
        environment["FOOTPLATE_DATA_DIR"] = str(folder / "nobodys")
        walk.run(text, folder, environment)
        yield service


def keep(page: Page, name: str) -> None:
    """A picture of the window."""
    folder = KEPT if os.environ.get("TUTORIAL_PICTURES") else PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png")


def test_the_tutorial(page: Page, sent: RunningService) -> None:
    page.set_viewport_size({"width": 1120, "height": 700})
    page.goto(f"{sent.url}/")
    rows = {
        name: page.get_by_role("row", name=f"rate_{name}") for name in ("good", "bad", "search")
    }
    for name, state in (("good", "succeeded"), ("bad", "failed"), ("search", "succeeded")):
        expect(rows[name]).to_contain_text(state)
    expect(rows["bad"]).to_contain_text("ValueError")
    keep(page, "jobs")
    page.get_by_label("Label").fill("team=ads")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("team%3Dads"))
    expect(rows["bad"]).to_have_count(0)
    page.go_back()

    page.get_by_role("link", name="rate_bad").click()
    expect(page.locator("p.verdict")).to_contain_text("ValueError")
    page.get_by_role("button", name="First error").click()
    expect(page.locator("#log .current")).to_contain_text("Traceback")
    expect(page.locator("#log")).to_contain_text("ValueError")
    page.locator("#log").evaluate(_SHORTEN, str(CACHE.parent))
    keep(page, "job")
    page.get_by_role("link", name="Clone and edit").click()
    expect(page.locator("body")).to_contain_text("n1-standard-4")
    keep(page, "submit")

    page.goto(f"{sent.url}/")
    page.get_by_role("link", name="rate_search").click()
    page.locator("dl.facts").get_by_role("link", name="8").click()
    expect(page.get_by_role("heading", name="Parameters and objective")).to_be_visible()
    expect(page.locator("#history canvas")).to_be_visible()
    keep(page, "search")
    page.get_by_role("link", name="Capacity").click()
    expect(page.get_by_role("heading", name="Queue")).to_be_visible()
    keep(page, "capacity")


def test_pictures_are_there_and_small() -> None:
    shown = re.findall(r"\]\(pictures/(\w+\.png)\)", TUTORIAL.read_text("utf-8"))
    assert sorted(shown) == sorted(path.name for path in KEPT.iterdir())
    assert all(1_000 < (KEPT / name).stat().st_size < MAX_BYTES for name in shown)
