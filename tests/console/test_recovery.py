"""Pages while the server is away, and when it is back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from footplate.domain.job_states import State
from footplate.testing.service import RunningService, running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.support.ports import free_port

if TYPE_CHECKING:
    from playwright.sync_api import Page

TALKS = """\
import itertools, time
for number in itertools.count():
    print("still here", number, flush=True)
    time.sleep(0.2)
"""


@pytest.fixture
def restarted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that has its address again after a restart."""
    data_dir = tmp_path_factory.mktemp("recovery") / "data"
    with running_service(data_dir, CACHE, port=free_port(), stop_grace_s=1) as service:
        yield service


def test_pages_say_that_the_server_is_away_and_go_on(page: Page, restarted: RunningService) -> None:
    context = Context(restarted)
    name = context.submit(TALKS)
    context.wait_for(name, State.RUNNING)
    following = page.context.new_page()
    pages = {page: "/jobs", following: f"/jobs/{name}"}
    for each, path in pages.items():
        each.goto(f"{restarted.url}{path}")
        expect(each.locator("#live")).to_have_text("live")
    lines = following.locator("#log .line")
    expect(lines.last).to_contain_text("still here")
    restarted.kill()
    for each in pages:
        expect(each.locator("#problem")).to_contain_text("doesn't answer")
    before = lines.last.inner_text()
    restarted.start()
    for each in pages:
        expect(each.locator("#problem")).to_be_hidden()
        expect(each.locator("#live")).to_have_text("live")
    expect(lines.last).not_to_have_text(before)
    with context.client() as client:
        client.cancel(name)
    expect(page.get_by_role("row", name=name.job_id)).to_contain_text("cancelled")
    expect(following.locator(".verdict")).to_contain_text("cancelled")
    following.close()
