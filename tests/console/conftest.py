"""One server with jobs of all kinds, and one browser, for all tests of the console."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect, sync_playwright

from footplate.console.static_files import StaticFiles
from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import (
    Address,
    Directory,
    Ending,
    Exit,
    ExitKind,
    Job,
    JobEvent,
    MachineSpec,
    Replica,
)
from footplate.domain.log_lines import Line
from footplate.logs.files import FileLogs
from footplate.store import open_store
from footplate.testing.service import RunningService, running_service
from tests.console.screens import PageProblems
from tests.e2e.service.conftest import CACHE, Context
from tests.support.deadlines import EVENT_MS
from tests.support.jobs import make_job, make_spec
from tests.support.requirements import require_packages
from tests.unit.replica_metrics.event_writer import event, simple, write

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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
        author="bob" if number < 20 else "ann",
        start_time=created + timedelta(seconds=3),
        end_time=created + timedelta(seconds=40 + number),
        replicas=tuple(Replica(each, Phase.GONE) for each in spec.replica_names()),
        ending=Ending(state, code, message),
    )


LONG = "projects/demo/jobs/long"
LONG_REQUEST = '{"jobId": "long", "trainingInput": {"args": ["it\'s", "\\\\"]}}'
LINES = 60_002
_STEPS = 60_000
PAGE_NAME = "page<img src=x onerror=alert(1)>\"'.html"
SLOW = "a" * 60 + "!"
"""Regular expressions with repetitions in repetitions need for ever for it."""
_LOUD = 54_321
"""The one line of the long log that is an error."""


def write_long_job(data_dir: Path, now: datetime) -> None:
    """A job of two replicas that started again, with a long log."""
    created = now - timedelta(days=2)
    spec = replace(
        make_spec(workers=1),
        job_dir="gs://long/out",
        directories=(Directory(None, "gs://long/out"),),
    )
    job = make_job(LONG, created=created, spec=spec, request=LONG_REQUEST)
    names = job.spec.replica_names()
    job = replace(
        job,
        state=State.FAILED,
        attempt=2,
        display_name=f"long {HOSTILE}",
        start_time=created + timedelta(minutes=5),
        end_time=created + timedelta(hours=1),
        replicas=tuple(
            Replica(
                each,
                Phase.GONE,
                Exit(ExitKind.EXITED, 1, HOSTILE, "Mend it."),
                address=Address("10.0.0.1", 2222),
                losses=1,
            )
            for each in names
        ),
        ending=Ending(State.FAILED, Code.INTERNAL, f"It failed: {HOSTILE}"),
    )
    events = [
        JobEvent(created, "QUEUED", ""),
        JobEvent(created + timedelta(minutes=1), "PREPARING", "", 1),
        JobEvent(created + timedelta(minutes=5), "RUNNING", "", 1),
        JobEvent(created + timedelta(minutes=30), "RESTART", f"lost {HOSTILE}", 1, names[0]),
        JobEvent(created + timedelta(minutes=40), "RETRY", f"again {HOSTILE}", 1, names[1]),
        JobEvent(created + timedelta(hours=1), "FAILED", HOSTILE, 2),
    ]
    with closing(open_store(f"sqlite:///{data_dir / 'footplate.db'}")) as store:
        store.create(job, events)
    logs = FileLogs(data_dir / "logs", lambda: created)
    lines = [
        Line(at + 1, created, "ERROR" if at == _LOUD else "INFO", f"step {at} \x1b[31mred\x1b[0m")
        for at in range(_STEPS)
    ]
    for at in range(0, _STEPS, 2000):
        logs.append(job.uid, 1, names[0], lines[at : at + 2000])
    again = [Line(1, created, "INFO", SLOW), Line(2, created, "INFO", HOSTILE)]
    logs.append(job.uid, 2, names[1], again)
    logs.close()


def write_long_files(data_dir: Path, now: datetime) -> None:
    """What the long job left in its directory: metrics, pages that want to run, many files."""
    out = data_dir / "buckets" / "long" / "out"
    began = (now - timedelta(days=2)).timestamp() + 300
    for folder, first in (("train", 1.0), ("eval", 1.5)):
        events = [
            event(simple("loss", first / (1 + at / 10)), step=at * 100, time=began + at * 60)
            for at in range(50)
        ]
        write(out / folder / "events.out.tfevents.1", *events)
    write(out / "eval" / "events.out.tfevents.2", event(simple(HOSTILE, 1.0), step=1, time=began))
    (out / PAGE_NAME).write_text(f"<script>document.title='owned'</script>{HOSTILE}", "utf-8")
    for number in range(250):
        part = out / "many" / f"part-{number:03}"
        part.parent.mkdir(exist_ok=True)
        part.write_bytes(b"x" * number)


def write_history(data_dir: Path, count: int = ENDED) -> None:
    """Ended jobs, before the server starts."""
    data_dir.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    with closing(open_store(f"sqlite:///{data_dir / 'footplate.db'}")) as store:
        for number in range(count):
            store.create(make_ended(number, now), ())
    write_long_job(data_dir, now)
    write_long_files(data_dir, now)


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    data_dir = tmp_path_factory.mktemp("console") / "data"
    write_history(data_dir)
    with running_service(data_dir, CACHE, stop_grace_s=1, usage_s=0.5) as service:
        yield service


@pytest.fixture(scope="package")
def context(service: RunningService) -> Context:
    """A user of the service, who submits real jobs."""
    return Context(service)


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
    """Ends with the folder: while Playwright runs, this thread has an event loop that runs, and
    tests elsewhere that start one fail.
    """
    require_packages("Chromium", "chromium")
    path = shutil.which("chromium")
    expect.set_options(timeout=EVENT_MS)
    with sync_playwright() as playwright:
        # Chromium's own sandbox refuses root, and /dev/shm may be small; the pages are our own.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a reader in New York; it fails the test if a script or the policy complains."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, timezone_id="America/New_York", locale="en-US"
    )
    page = context.new_page()
    page.set_default_timeout(EVENT_MS)
    problems = PageProblems(page)
    yield page
    problems.check()
    context.close()
