"""What may break around a container: its engine, a pull, the supervisor; and a look inside."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from footplate.domain.job_states import State
from footplate.domain.names import CustomJobName, TrainingJobName
from footplate.domain.stacks import describe
from footplate.testing.faults.processes import find_supervisor
from tests.e2e.containers.container_context import ContainerContext
from tests.e2e.engines.test_pull import MB, Silent, silent
from tests.e2e.service.test_shells import IN_TIME_S
from tests.e2e.service.test_stacks import collect
from tests.support.engines import private_registry, push_image
from tests.support.engines.requirements import require_registry
from tests.support.forked_process import run_footplate

__all__ = ["silent"]

WAIT = """
import os, time

def wait_for_end(place):
    while not os.path.exists(place):
        time.sleep(0.05)

open("/tmp/mine", "w").close()
print("up", os.environ["FOOTPLATE_RESTART"], flush=True)
wait_for_end(os.path.join("/gcs/stage/out", os.environ["CLOUD_ML_JOB_ID"], "end"))
"""


def running(context: ContainerContext, **training_input: bool) -> TrainingJobName:
    name = context.submit(WAIT, setup=None, **training_input)
    context.until(lambda: context.messages(name) == ["up 0"])
    return name


def test_a_replica_whose_engine_is_killed_starts_again_with_it(shared: ContainerContext) -> None:
    name = running(shared)
    shared.engine.running.kill()
    try:
        shared.until(lambda: lost(shared, name))
    finally:
        shared.engine.running.start()

    shared.until(lambda: shared.messages(name) == ["up 0", "up 1"])
    (shared.out(name) / "end").touch()
    shared.wait_for(name, State.SUCCEEDED)


def lost(context: ContainerContext, name: TrainingJobName) -> bool:
    return any(
        "the container engine no longer answers" in event.message for event in context.events(name)
    )


def pulling(context: ContainerContext, silent: Silent) -> CustomJobName:
    """A job whose registry takes the request for its image, and never answers."""
    name = context.run_custom("true", image=f"{silent.host}/team/x:1")
    context.until(lambda: any("pulls" in text for text in context.told(name, "PREPARING")))
    context.until(silent.asked.is_set)
    return name


def test_a_pull_whose_engine_is_killed(shared: ContainerContext, silent: Silent) -> None:
    name = pulling(shared, silent)
    shared.engine.running.kill()
    try:
        message = shared.wait_for(name, State.FAILED).error_message
    finally:
        shared.engine.running.start()

    assert "the container engine at" in message
    assert "start it again" in message


def test_a_job_is_cancelled_while_its_image_is_pulled(
    shared: ContainerContext, silent: Silent
) -> None:
    name = pulling(shared, silent)
    with shared.client() as client:
        client.cancel(name)

    shared.wait_for(name, State.CANCELLED)
    assert shared.messages(name) == []


def test_an_image_for_other_machines(shared: ContainerContext, tmp_path: Path) -> None:
    require_registry()
    with private_registry(tmp_path / "registry") as registry:
        image = push_image(registry, "team/other", [MB], architecture="s390x")
        name = shared.run_custom("true", image=image)
        message = shared.wait_for(name, State.FAILED).error_message

    assert f"{image} is for s390x, and this machine is amd64" in message


def test_a_shell_and_the_stacks_of_a_container(shared: ContainerContext) -> None:
    name = running(shared, enableWebAccess=True)
    job_id = name.job_id
    shell = "ls /tmp/mine; cat /etc/hostname >/dev/null; exit 3"
    words = ("ai-platform", "jobs", "ssh", job_id, "--project=demo", "--command", shell)
    done = run_footplate(*words, env=shared.service.environment(), timeout=IN_TIME_S)
    stacks = describe(collect(shared, name))
    (shared.out(name) / "end").touch()
    shared.wait_for(name, State.SUCCEEDED)

    assert (done.stdout, done.returncode) == ("/tmp/mine\n", 3), done.stderr
    assert "is in wait_for_end (trainer/task.py:" in stacks


def test_a_replica_whose_supervisor_is_killed_starts_again(shared: ContainerContext) -> None:
    name = running(shared)
    homes = shared.service.data_dir.glob("replicas/*/*")
    [supervisor] = [found.pid for home in homes if (found := find_supervisor(home))]
    os.kill(supervisor, signal.SIGKILL)

    shared.until(lambda: shared.messages(name) == ["up 0", "up 1"])
    (shared.out(name) / "end").touch()
    shared.wait_for(name, State.SUCCEEDED)
    kinds = [event.kind for event in shared.events(name)]
    assert (kinds.count("SUPERVISOR_LOST"), kinds.count("RESTART")) == (1, 1)
