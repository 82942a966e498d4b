"""Programs that harm themselves, or what runs them: the right state, the cause, nothing left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from footplate.client.records import Job
from footplate.domain.job_states import State
from footplate.domain.names import JobName
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.e2e.service.tuning_helpers import leftovers

SETTINGS = {"stop_grace_s": 1, "max_restarts": 1, "max_retries": 0}


@pytest.fixture(scope="module", params=["cgroup", "namespace"])
def contained(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Context]:
    """One service for all: none of the programs may harm those after it."""
    if os.geteuid() != 0 and request.param == "cgroup" and not os.environ.get("CI"):
        pytest.skip("control groups need root here")
    directory = tmp_path_factory.mktemp("misdeeds")
    with running_service(directory / "data", CACHE, isolation=request.param, **SETTINGS) as service:
        yield Context(service)


def end(context: Context, source: str, state: State) -> Job:
    """Run it to its end, which has to be this one; then nothing of it may be left."""
    name = context.submit(source)
    job = context.wait_for(name)
    assert job.state is state, (job.error_message, context.messages(name))
    context.until(lambda: leftovers(context) == [])
    return job


def test_it_opens_all_files_there_are(contained: Context) -> None:
    source = "files = []\nwhile True: files.append(open('/dev/null'))"
    job = end(contained, source, State.FAILED)
    assert "OSError: [Errno 24] Too many open files: '/dev/null'" in job.error_message


def test_it_deletes_its_working_directory_and_what_is_beside_it(contained: Context) -> None:
    source = """
import os, shutil, sys
here = os.getcwd()
for place in (here, os.path.dirname(here)):
    shutil.rmtree(place, ignore_errors=True)
print("all deleted", flush=True)
sys.exit(5)
"""
    job = end(contained, source, State.FAILED)
    assert job.error_message == "replica master-replica-0 exited with code 5"
    assert contained.messages(job.name) == ["all deleted"]


def test_it_kills_its_parent(contained: Context) -> None:
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
    job = end(contained, source, State.SUCCEEDED)
    assert contained.messages(job.name) == ["1", "alive"]


def test_it_writes_a_hundred_thousand_files(contained: Context) -> None:
    count = 100_000 if os.environ.get("CI") == "true" else 20_000
    source = f"""
import os
for number in range({count}):
    os.close(os.open(f"file-{{number}}", os.O_CREAT | os.O_WRONLY))
print("written", flush=True)
"""
    job = end(contained, source, State.SUCCEEDED)
    assert contained.messages(job.name) == ["written"]


def test_its_children_are_many_and_stay(contained: Context) -> None:
    source = """
import os, signal
for number in range(300):
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.setsid()
        signal.pause()
print("born", flush=True)
"""
    job = end(contained, source, State.SUCCEEDED)
    assert contained.messages(job.name) == ["born"]


def supervisor_of(context: Context) -> int:
    (file,) = context.service.data_dir.glob("replicas/*/*/pid")
    return int(file.read_text())


def test_a_job_whose_supervisor_is_stopped_can_be_cancelled(contained: Context) -> None:
    name = contained.submit("import time\nprint('up', flush=True)\ntime.sleep(600)")
    contained.until(lambda: contained.messages(name) == ["up"])
    os.kill(supervisor_of(contained), signal.SIGSTOP)
    check_cancel(contained, name)


def check_cancel(context: Context, name: JobName) -> None:
    with context.client() as client:
        client.cancel(name)
    context.wait_for(name, State.CANCELLED)
    context.until(lambda: leftovers(context) == [])


def test_a_stopped_supervisor_keeps_no_job_beyond_its_running_time(contained: Context) -> None:
    source = "import time\nprint('up', flush=True)\ntime.sleep(600)"
    name = contained.submit(source, scheduling={"maxRunningTime": "4s"})
    contained.until(lambda: contained.messages(name) == ["up"])
    os.kill(supervisor_of(contained), signal.SIGSTOP)
    job = contained.wait_for(name, State.CANCELLED)
    assert "limit of its running time" in job.error_message
    contained.until(lambda: leftovers(contained) == [])
