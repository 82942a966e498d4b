"""Programs of gangs that misbehave: each job ends as it should, says why, and leaves nothing."""

from __future__ import annotations

import pytest

from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing.faults import FaultInjector
from tests.e2e.service.conftest import Context
from tests.e2e.service.test_clusters import submit_pools
from tests.support.supervisor_process import find_living

PAIR = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "workerType": "n1-standard-4",
    "workerCount": "1",
}
MASTER, WORKER = "master-replica-0", "worker-replica-0"
PRELUDE = """
import json, os, pathlib, signal, socket, sys, time
here = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
described = json.loads(os.environ["TF_CONFIG"])
role = described["task"]["type"]
places = {role: members[0].split(":") for role, members in described["cluster"].items()}

def wait_for(name):
    while not (here / name).exists():
        time.sleep(0.02)
"""
THIEF = """
master = next(place for name, place in places.items() if name != "worker")
with socket.socket() as server:
    if role != "worker":
        wait_for("taken")
    server.bind(("", int(master[1])))
    server.listen()
    (here / "taken").touch()
    wait_for("never")
"""
STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.environ.clear()
        (here / f"{role}-has-left").touch()
        wait_for("never")
    os._exit(0)
wait_for("end" if role != "worker" else "never")
"""
GREEDY = """
if role != "worker":
    x = bytearray(2_000_000_000)
wait_for("never")
"""


def send_pair(context: Context, source: str, **machines: str) -> TrainingJobName:
    """With an argument by which ``living`` knows the programs: no other service has it."""
    mark = f"{context.bucket}:job_{context.sent + 1}:"
    return context.submit(PRELUDE + source, mark, **{**PAIR, **machines})


def living(context: Context, name: TrainingJobName) -> list[int]:
    """Processes of the job's programs, and their children, by their arguments."""
    return find_living(f"{context.bucket}:{name.job_id}:")


def test_a_port_that_somebody_takes_before_the_program_does_is_named(shared: Context) -> None:
    name = send_pair(shared, THIEF)

    job = shared.wait_for(name, State.FAILED)
    told = (
        "exited with code 1: OSError: [Errno 98] Address already in use (at task.py:16 in <module>)"
    )
    assert job.error_message == f"replica {MASTER} {told}"
    assert living(shared, name) == []


def make_stubborn(context: Context) -> TrainingJobName:
    name = send_pair(context, STUBBORN)
    context.until(lambda: len(list(context.out(name).glob("*-has-left"))) == 2)
    assert len(living(context, name)) >= 4
    return name


def test_cancel_ends_programs_that_will_not_end_and_those_that_left(shared: Context) -> None:
    name = make_stubborn(shared)
    with shared.client() as client:
        client.cancel(name)

    shared.wait_for(name, State.CANCELLED)
    assert living(shared, name) == []


def test_the_success_of_the_primary_ends_them_too(shared: Context) -> None:
    name = make_stubborn(shared)
    (shared.out(name) / "end").touch()

    shared.wait_for(name, State.SUCCEEDED)
    assert living(shared, name) == []


def test_cancel_ends_programs_that_stand_still(shared: Context) -> None:
    with FaultInjector(shared.service) as faults:
        faults.freeze(WORKER)
        frozen = faults.freeze(MASTER)
        name = send_pair(shared, 'wait_for("never")')
        frozen.wait()
        with shared.client() as client:
            client.cancel(name)
        shared.wait_for(name, State.CANCELLED)
        assert living(shared, name) == []


def test_a_primary_that_is_out_of_memory_is_the_cause(enforcing: Context) -> None:
    """And no loss: it would be out of memory again."""
    small = {"masterType": "own-small", "workerType": "own-small"}
    name = send_pair(enforcing, GREEDY, **small)

    job = enforcing.wait_for(name, State.FAILED)
    assert job.error_message.startswith(f"replica {MASTER} was killed because memory ran out")
    assert living(enforcing, name) == []
    with enforcing.client() as client:
        assert {"RESTART", "RETRY"}.isdisjoint(event.kind for event in client.events(name))


def test_a_job_that_gathers_is_deleted_once_it_is_cancelled(shared: Context) -> None:
    gate = shared.bucket / "gate"
    slow = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)"
    name = submit_pools(shared, (1, None), (2, slow))
    homes = shared.service.data_dir / "replicas"
    with shared.client() as client:
        shared.until(lambda: len(list(homes.glob("*-1/*/task.json"))) == 3)
        with pytest.raises(FailedPrecondition, match="cancel it, and delete it when it has ended"):
            client.custom_jobs.delete(name)
        client.cancel(name)
        shared.wait_for(name, State.CANCELLED)
        client.custom_jobs.delete(name)
        with pytest.raises(NotFound):
            client.job(name)
    assert find_living(str(homes)) == []
    shared.until(lambda: not list(homes.glob("*-1")))
