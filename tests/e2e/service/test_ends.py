"""How jobs end: by themselves, by request, by their limits; nothing is left of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context, SharedServices
from tests.support.forked_process import run_footplate

if TYPE_CHECKING:
    import subprocess

FAMILY = """
import os, pathlib, signal, subprocess, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for number in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:

            (out / f"child{number}").write_text("")
            while True:
                (out / f"beat{number}").write_text(str(time.monotonic()))
                time.sleep(0.05)
        os._exit(0)
print("born", flush=True)
if "--leave" not in sys.argv:
    signal.pause()
"""


@pytest.fixture(params=["cgroup", "namespace", "subreaper"])
def contained(request: pytest.FixtureRequest, shared_services: SharedServices) -> Iterator[Context]:
    if os.geteuid() != 0 and request.param == "cgroup" and not os.environ.get("CI"):
        pytest.skip("control groups need root here")
    with shared_services.context(isolation=request.param) as context:
        yield context


def beats(context: Context, name: TrainingJobName) -> list[str]:
    return [(context.out(name) / f"beat{number}").read_text() for number in range(3)]


def check_silence(context: Context, name: TrainingJobName) -> None:
    """No child writes any more: what they wrote stays what it is while others live on."""
    before = beats(context, name)
    other = context.submit("print('after')")
    context.wait_for(other, State.SUCCEEDED)
    assert beats(context, name) == before


def test_cancel_takes_down_children_that_ran_away(contained: Context) -> None:
    name = contained.submit(FAMILY)
    contained.until(lambda: all((contained.out(name) / f"beat{n}").exists() for n in range(3)))
    with contained.client() as client:
        client.cancel(name)

    job = contained.wait_for(name)
    assert job.state is State.CANCELLED
    check_silence(contained, name)


def test_the_end_takes_down_children_that_ran_away(contained: Context) -> None:
    name = contained.submit(FAMILY, "--leave")

    assert contained.wait_for(name).state is State.SUCCEEDED
    before = [p.read_text() for p in sorted(contained.out(name).glob("beat*"))]
    other = contained.submit("print('after')")
    contained.wait_for(other, State.SUCCEEDED)
    assert [p.read_text() for p in sorted(contained.out(name).glob("beat*"))] == before


def test_the_running_time_limit(shared: Context) -> None:
    source = "import time\nprint('up', flush=True)\ntime.sleep(600)"
    name = shared.submit(source, scheduling={"maxRunningTime": "1s"})

    job = shared.wait_for(name, State.CANCELLED)
    assert "ran longer than its limit of 1 s" in job.error_message
    assert shared.messages(name) == ["up"]


def test_down_ends_the_jobs_too(context: Context) -> None:
    name = context.submit("import time\nprint('up', flush=True)\ntime.sleep(600)")
    context.wait_for(name, State.RUNNING)
    context.service.down()
    context.service.start()

    assert context.job(name).state is State.CANCELLED


def test_cancel_while_the_package_is_built(shared: Context) -> None:
    beat = shared.bucket / "beat"
    code = f"import pathlib, time; beat = pathlib.Path({str(beat)!r})"
    forever = "while True: beat.write_text(str(time.monotonic())); time.sleep(0.05)"
    name = shared.submit("", setup=f"{code}\n{forever}\n")
    shared.until(beat.exists)
    assert shared.job(name).state is State.PREPARING
    with shared.client() as client:
        client.cancel(name)

    assert shared.wait_for(name).state is State.CANCELLED
    before = beat.read_text()
    shared.wait_for(shared.submit("print('after')"), State.SUCCEEDED)
    assert beat.read_text() == before


def footplate(context: Context, *words: str) -> subprocess.CompletedProcess[str]:
    environment = context.service.environment(FOOTPLATE_CACHE_DIR=str(CACHE))
    return run_footplate(*words, env=environment, check=True, timeout=120)


def test_what_goes_on_without_a_server_is_shown_and_ended(context: Context) -> None:
    name = context.submit("import time\nprint('up', flush=True)\ntime.sleep(600)")
    context.wait_for(name, State.RUNNING)
    context.service.kill()

    shown = footplate(context, "status").stdout
    assert "No server is running; `footplate up` starts one." in shown
    assert "jobs     1 RUNNING" in shown

    assert footplate(context, "down").stderr == "Ending 1 job.\nAll jobs have ended.\n"
    assert "jobs     none active" in footplate(context, "status").stdout
    assert "no job is running" in footplate(context, "down").stderr
    context.service.start()
    assert context.job(name).state is State.CANCELLED
    assert context.messages(name) == ["up"]


def test_the_end_of_the_server_cuts_followers_off_without_noise(context: Context) -> None:
    name = context.submit("import time\nprint('up', flush=True)\ntime.sleep(600)")
    with context.client() as client:
        lines = client.logs(name, follow=True)
        assert next(lines).message == "up"
        told = context.service.log.stat().st_size
        context.service.stop()
        with pytest.raises((Unavailable, StopIteration)):
            next(lines)

    said = context.service.log.read_bytes()[told:].decode()
    assert said.splitlines()[1:] == [
        "The service has stopped.",
        "1 job continues without the service; the next `footplate up` takes over.",
    ]


def test_a_second_server_is_refused(shared: Context) -> None:
    other = running_service(shared.service.data_dir, CACHE)

    with pytest.raises(RuntimeError, match=r"another server .* already uses"):
        other.__enter__()
    assert shared.service.alive


def test_a_bucket_that_goes_while_the_job_waits_ends_it_with_a_reason(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1, max_replicas=1) as service:
        context = Context(service)
        with context.client() as client:
            client.storage.create_bucket("demo", "short-lived")
        first = context.submit("import time; time.sleep(600)")
        name = context.submit("print('never')", jobDir="gs://short-lived/out")
        (service.data_dir / "buckets" / "short-lived").rmdir()
        with context.client() as client:
            client.training_jobs.cancel(first)

        job = context.wait_for(name, State.FAILED)
        assert "short-lived" in job.error_message
