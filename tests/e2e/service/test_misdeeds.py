"""Programs that harm themselves, or what runs them: the right state, the cause, nothing left."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from footplate.domain.states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Desk
from tests.e2e.service.searching import leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.client.resources import Job
    from footplate.domain.names import JobName

SETTINGS = {"stop_grace_s": 1, "max_restarts": 1, "max_retries": 0}


@pytest.fixture(scope="module", params=["cgroup", "namespace"])
def caged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    """One service for all: none of the programs may harm those after it."""
    if os.geteuid() != 0 and request.param == "cgroup" and not os.environ.get("CI"):
        pytest.skip("control groups need root here")
    directory = tmp_path_factory.mktemp("misdeeds")
    with running_service(directory / "data", CACHE, isolation=request.param, **SETTINGS) as service:
        yield Desk(service)


def end(desk: Desk, source: str, state: State) -> Job:
    """Run it to its end, which has to be this one; then nothing of it may be left."""
    name = desk.submit(source)
    job = desk.wait_for(name)
    assert job.state is state, (job.error_message, desk.messages(name))
    desk.until(lambda: leftovers(desk) == [])
    return job


def test_it_opens_all_files_there_are(caged: Desk) -> None:
    source = "files = []\nwhile True: files.append(open('/dev/null'))"
    job = end(caged, source, State.FAILED)
    assert "OSError: [Errno 24] Too many open files: '/dev/null'" in job.error_message


def test_it_deletes_its_working_directory_and_what_is_beside_it(caged: Desk) -> None:
    source = """
import os, shutil, sys
here = os.getcwd()
for place in (here, os.path.dirname(here)):
    shutil.rmtree(place, ignore_errors=True)
print("all deleted", flush=True)
sys.exit(5)
"""
    job = end(caged, source, State.FAILED)
    assert job.error_message == "replica master-replica-0 exited with code 5"
    assert caged.messages(job.name) == ["all deleted"]


def test_it_kills_its_parent(caged: Desk) -> None:
    """That is an init that it can't harm, not its supervisor."""
    source = """
import contextlib, os, signal, time
parent = os.getppid()
print(parent, flush=True)
with contextlib.suppress(PermissionError):
    os.kill(parent, signal.SIGKILL) if parent == 1 else None
time.sleep(0.5)
print("alive", flush=True)
"""
    job = end(caged, source, State.SUCCEEDED)
    assert caged.messages(job.name) == ["1", "alive"]


def test_it_writes_a_hundred_thousand_files(caged: Desk) -> None:
    count = 100_000 if os.environ.get("CI") == "true" else 20_000
    source = f"""
import os
for number in range({count}):
    os.close(os.open(f"file-{{number}}", os.O_CREAT | os.O_WRONLY))
print("written", flush=True)
"""
    job = end(caged, source, State.SUCCEEDED)
    assert caged.messages(job.name) == ["written"]


def test_its_children_are_many_and_stay(caged: Desk) -> None:
    source = """
import os, signal
for number in range(300):
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.setsid()
        signal.pause()
print("born", flush=True)
"""
    job = end(caged, source, State.SUCCEEDED)
    assert caged.messages(job.name) == ["born"]


def supervisor_of(desk: Desk) -> int:
    (file,) = desk.service.data_dir.glob("replicas/*/*/pid")
    return int(file.read_text())


def test_a_job_whose_supervisor_is_stopped_can_be_cancelled(caged: Desk) -> None:
    name = caged.submit("import time\nprint('up', flush=True)\ntime.sleep(600)")
    caged.until(lambda: caged.messages(name) == ["up"])
    os.kill(supervisor_of(caged), signal.SIGSTOP)
    check_cancel(caged, name)


def check_cancel(desk: Desk, name: JobName) -> None:
    with desk.client() as client:
        client.cancel(name)
    desk.wait_for(name, State.CANCELLED)
    desk.until(lambda: leftovers(desk) == [])


def test_a_stopped_supervisor_keeps_no_job_beyond_its_running_time(caged: Desk) -> None:
    source = "import time\nprint('up', flush=True)\ntime.sleep(600)"
    name = caged.submit(source, scheduling={"maxRunningTime": "4s"})
    caged.until(lambda: caged.messages(name) == ["up"])
    os.kill(supervisor_of(caged), signal.SIGSTOP)
    job = caged.wait_for(name, State.CANCELLED)
    assert "running time limit" in job.error_message
    caged.until(lambda: leftovers(caged) == [])
