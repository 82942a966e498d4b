"""One server with jobs of all kinds, and one browser, for all tests of the console."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from footplate.console.static_files import StaticFiles
from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Ending, MachineSpec, Replica
from footplate.store import open_store
from footplate.testing.service import running_service
from tests.console.screens import PageProblems
from tests.support.jobs import make_job, make_spec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from footplate.domain.jobs import Job
    from footplate.testing.service import RunningService

ENDED = 120
HOSTILE = "<img src=x onerror=\"document.title='owned'\">'\"</script><script>alert(1)</script>"
_STATES = (State.SUCCEEDED, State.SUCCEEDED, State.FAILED, State.CANCELLED)
_GPU = MachineSpec("a2-highgpu-1g", "NVIDIA_TESLA_A100", 1)
_ERROR = "The replica workerpool0-0 exited with a non-zero status of 1. ValueError: bad shapes"


def make_ended(number: int, now: datetime) -> Job:
    """Job ``number`` of a history: the higher the older."""
    created = now - timedelta(minutes=number + 1)
    name = f"projects/demo/locations/us-central1/customJobs/{9000 - number}"
    if number % 3 == 0:
        name = f"projects/vision/jobs/train_{number}"
    spec = make_spec(workers=number % 2 * 3, machine=_GPU if number % 4 == 0 else MachineSpec("e2"))
    state = _STATES[number % len(_STATES)]
    code, message = (Code.INTERNAL, _ERROR) if state is State.FAILED else (Code.OK, "")
    job = make_job(
        name,
        spec=spec,
        created=created,
        display_name=HOSTILE if number == 2 else f"resnet50 on ImageNet {number}",
        labels=(("team", "ads"), ("hostile", HOSTILE)) if number % 2 else (),
    )
    return replace(
        job,
        state=state,
        start_time=created + timedelta(seconds=3),
        end_time=created + timedelta(seconds=40 + number),
        replicas=tuple(Replica(each, Phase.GONE) for each in spec.replica_names()),
        ending=Ending(state, code, message),
    )


def write_history(data_dir: Path, count: int = ENDED) -> None:
    """Ended jobs, before the server starts."""
    data_dir.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    with closing(open_store(f"sqlite:///{data_dir / 'footplate.db'}")) as store:
        for number in range(count):
            store.create(make_ended(number, now), ())


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    data_dir = tmp_path_factory.mktemp("console") / "data"
    write_history(data_dir)
    with running_service(data_dir) as service:
        yield service


@pytest.fixture(scope="package")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that wants the token ``sesame``."""
    with running_service(tmp_path_factory.mktemp("guarded") / "data", token="sesame") as service:
        yield service


@pytest.fixture(scope="package", autouse=True)
def scripts() -> None:
    missing = StaticFiles().missing()
    assert not missing, f"the console's scripts are missing: run `make console` ({missing})"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        reason = "no chromium found (Debian: apt-get install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        # Chromium's own sandbox refuses root; the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a reader in New York; it fails the test if a script or the policy complains."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, timezone_id="America/New_York", locale="en-US"
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    problems = PageProblems(page)
    yield page
    problems.check()
    context.close()
