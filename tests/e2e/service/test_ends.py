"""How jobs end: by themselves, by request, by their limits; nothing is left of them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from footplate.domain.names import TrainingJobName

FAMILY = """
import os, pathlib, signal, subprocess, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1])
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
def caged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    if os.geteuid() != 0 and request.param == "cgroup" and not os.environ.get("CI"):
        pytest.skip("control groups need root here")
    settings = {"stop_grace_s": 1, "isolation": request.param}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        yield Desk(service)


def beats(desk: Desk, name: TrainingJobName) -> list[str]:
    return [(desk.out(name) / f"beat{number}").read_text() for number in range(3)]


def check_silence(desk: Desk, name: TrainingJobName) -> None:
    """No child writes any more: what they wrote stays what it is while others live on."""
    before = beats(desk, name)
    other = desk.submit("print('after')")
    desk.wait_for(other, State.SUCCEEDED)
    assert beats(desk, name) == before


def test_cancel_takes_down_children_that_ran_away(caged: Desk) -> None:
    name = caged.submit(FAMILY)
    caged.until(lambda: all((caged.out(name) / f"beat{n}").exists() for n in range(3)))
    with caged.client() as client:
        client.cancel(name)

    job = caged.wait_for(name)
    assert job.state is State.CANCELLED
    check_silence(caged, name)


def test_the_end_takes_down_children_that_ran_away(caged: Desk) -> None:
    name = caged.submit(FAMILY, "--leave")

    assert caged.wait_for(name).state is State.SUCCEEDED
    before = [p.read_text() for p in sorted(caged.out(name).glob("beat*"))]
    other = caged.submit("print('after')")
    caged.wait_for(other, State.SUCCEEDED)
    assert [p.read_text() for p in sorted(caged.out(name).glob("beat*"))] == before


def test_a_failure_says_its_cause_first(desk: Desk) -> None:
    name = desk.submit("import no_such_module")
    job = desk.wait_for(name, State.FAILED)

    assert job.error_message.startswith(
        "replica master-replica-0 exited with code 1: "
        "ModuleNotFoundError: No module named 'no_such_module'. Runtime "
    )


def test_the_running_time_limit(desk: Desk) -> None:
    source = "import time\nprint('up', flush=True)\ntime.sleep(600)"
    name = desk.submit(source, scheduling={"maxRunningTime": "1s"})

    job = desk.wait_for(name, State.CANCELLED)
    assert "running time limit" in job.error_message
    assert desk.messages(name) == ["up"]


def test_down_ends_the_jobs_too(desk: Desk) -> None:
    name = desk.submit("import time\nprint('up', flush=True)\ntime.sleep(600)")
    desk.wait_for(name, State.RUNNING)
    desk.service.down()
    desk.service.start()

    assert desk.job(name).state is State.CANCELLED


def test_cancel_while_the_package_is_built(desk: Desk) -> None:
    beat = desk.bucket / "beat"
    code = f"import pathlib, time; beat = pathlib.Path({str(beat)!r})"
    forever = "while True: beat.write_text(str(time.monotonic())); time.sleep(0.05)"
    name = desk.submit("", setup=f"{code}\n{forever}\n")
    desk.until(beat.exists)
    assert desk.job(name).state is State.PREPARING
    with desk.client() as client:
        client.cancel(name)

    assert desk.wait_for(name).state is State.CANCELLED
    before = beat.read_text()
    desk.wait_for(desk.submit("print('after')"), State.SUCCEEDED)
    assert beat.read_text() == before


def footplate(desk: Desk, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from footplate.cli.main import main; main()", *words],
        env=desk.service.environment(FOOTPLATE_CACHE_DIR=str(CACHE)),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


def test_what_goes_on_without_a_server_is_shown_and_ended(desk: Desk) -> None:
    name = desk.submit("import time\nprint('up', flush=True)\ntime.sleep(600)")
    desk.wait_for(name, State.RUNNING)
    desk.service.kill()

    shown = footplate(desk, "status").stdout
    assert "No server runs; `footplate up` starts it." in shown
    assert "jobs     1 RUNNING" in shown

    assert footplate(desk, "down").stderr == "Ending 1 job.\nNo job goes on any more.\n"
    assert "jobs     none active" in footplate(desk, "status").stdout
    assert "no job goes on" in footplate(desk, "down").stderr
    desk.service.start()
    assert desk.job(name).state is State.CANCELLED
    assert desk.messages(name) == ["up"]


def test_the_end_of_the_server_cuts_followers_off_without_noise(desk: Desk) -> None:
    name = desk.submit("import time\nprint('up', flush=True)\ntime.sleep(600)")
    with desk.client() as client:
        lines = client.logs(name, follow=True)
        assert next(lines).message == "up"
        told = desk.service.log.stat().st_size
        desk.service.stop()
        with pytest.raises((Unavailable, StopIteration)):
            next(lines)

    said = desk.service.log.read_bytes()[told:].decode()
    assert said.splitlines()[1:] == [
        "The service has stopped.",
        "1 job goes on without it; the next `footplate up` takes over again.",
    ]


def test_a_second_server_is_refused(desk: Desk) -> None:
    other = running_service(desk.service.data_dir, CACHE)

    with pytest.raises(RuntimeError, match=r"another server .* already uses"):
        other.__enter__()
    assert desk.service.alive


def test_a_bucket_that_goes_while_the_job_waits_ends_it_with_a_reason(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1, max_replicas=1) as service:
        desk = Desk(service)
        with desk.client() as client:
            client.storage.create_bucket("demo", "short-lived")
        first = desk.submit("import time; time.sleep(600)")
        name = desk.submit("print('never')", jobDir="gs://short-lived/out")
        (service.data_dir / "buckets" / "short-lived").rmdir()
        with desk.client() as client:
            client.training_jobs.cancel(first)

        job = desk.wait_for(name, State.FAILED)
        assert "short-lived" in job.error_message
