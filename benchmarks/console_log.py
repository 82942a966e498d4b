"""The console's log viewer in a log of a million lines, in a real browser.

It scrolls by its own keys, drags the slider to places all over the log, goes to its end and looks
for a line. While it does, the page counts its frames: the longest time between two of them is how
long it stood still.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.log_lines import Line
from footplate.logs.files import FileLogs
from footplate.store import open_store
from footplate.testing.service import running_service
from tests.support.jobs import make_job, make_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

NAME = "projects/demo/jobs/long"
BATCH = 5000
COUNT_FRAMES = """() => {
  window.longest = 0;
  let last = performance.now();
  const count = (now) => {
    window.longest = Math.max(window.longest, now - last);
    last = now;
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
}"""


def write_job(data_dir: Path, lines: int) -> None:
    data_dir.mkdir(parents=True)
    now = datetime.now(UTC)
    job = make_job(NAME, spec=make_spec(), created=now - timedelta(hours=1))
    job = replace(
        job,
        state=State.SUCCEEDED,
        attempt=1,
        start_time=job.create_time,
        end_time=now,
        ending=Ending(State.SUCCEEDED),
    )
    with closing(open_store(f"sqlite:///{data_dir / 'footplate.db'}")) as store:
        store.create(job, [])
    logs = FileLogs(data_dir / "logs", lambda: now)
    replica = job.spec.replica_names()[0]
    for first in range(0, lines, BATCH):
        numbers = range(first, min(first + BATCH, lines))
        made = [Line(n + 1, now, "INFO", f"step {n} loss {1 / (n + 1):.6f}") for n in numbers]
        logs.append(job.uid, 1, replica, made)
    logs.close()


def has_lines(page: Page) -> None:
    page.locator("#log .line").first.wait_for()


def scroll(page: Page) -> None:
    """By pages, through what is loaded and what isn't yet."""
    page.locator("#log").focus()
    for _ in range(200):
        page.keyboard.press("PageUp")
        page.wait_for_timeout(20)


def drag(page: Page) -> None:
    slider = page.locator("#log-position")
    for place in (500, 10, 990, 250, 750, 400):
        slider.fill(str(place))
        page.wait_for_timeout(300)
        has_lines(page)


def go_to_end(page: Page) -> None:
    page.get_by_role("button", name="Start").click()
    has_lines(page)
    page.get_by_role("button", name="Follow").click()
    has_lines(page)


def find(page: Page, lines: int) -> None:
    """The last but one, from the beginning."""
    page.get_by_role("button", name="Start").click()
    has_lines(page)
    page.get_by_role("searchbox", name="Search the log").fill(f"step {lines - 2} ")
    page.get_by_role("button", name="Next match").click()
    page.locator("#log .current").wait_for(timeout=300_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    lines = parser.parse_args().lines
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("chromium isn't installed (Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        write_job(data_dir, lines)
        with running_service(data_dir) as service, sync_playwright() as playwright:
            arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
            chromium = playwright.chromium.launch(executable_path=browser, args=arguments)
            page = chromium.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{service.url}/jobs/{NAME}")
            has_lines(page)
            page.evaluate(COUNT_FRAMES)
            print(f"{lines:,} lines")
            print("| what | took | longest time without a frame |")
            print("|---|---|---|")
            steps: dict[str, Callable[[], None]] = {
                "200 pages up from the end": lambda: scroll(page),
                "six places by the slider": lambda: drag(page),
                "start, then end": lambda: go_to_end(page),
                "find the last line but one": lambda: find(page, lines),
            }
            for label, act in steps.items():
                page.evaluate("window.longest = 0")
                begin = time.monotonic()
                act()
                took = time.monotonic() - begin
                print(f"| {label} | {took:.1f} s | {page.evaluate('window.longest'):.0f} ms |")
            chromium.close()


if __name__ == "__main__":
    main()
