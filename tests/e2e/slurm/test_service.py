"""Jobs of a running service in a region that is a real Slurm, beside one that is this machine."""

import json
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.job_states import State
from footplate.domain.stacks import describe
from tests.e2e.service.conftest import Context
from tests.e2e.service.tuning_helpers import REPORTER, search, starts, trials
from tests.e2e.slurm.conftest import REGION, ServeRegion
from tests.support.launcher_processes import find_launchers
from tests.support.slurm import SlurmCluster

LINE = """\
import os
print("runs in", os.getcwd())
"""
SLEEPS = """\
import time
print("sleeps", flush=True)
time.sleep(600)
"""
MEETING = """\
import json, os, socket, time
config = json.loads(os.environ["TF_CONFIG"])
host, port = config["cluster"]["worker"][0].rsplit(":", 1)
if config["task"]["type"] == "worker":
    with socket.create_server(("", int(port))) as server:
        server.accept()[0].sendall(b"worker 0")
else:
    end = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection((host, int(port)), 5) as met:
                print("met", met.recv(10).decode())
                break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
"""
PAIR = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "workerType": "n1-standard-4",
    "workerCount": "1",
}
GOES_ON = """\
import json, os, pathlib, signal, sys, time
role = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
here = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
def end(*_):
    print("worker ends in order", flush=True)
    sys.exit(0)
def is_there(name):
    return (here / name).exists()
if role != "worker":
    while not is_there("again"):
        time.sleep(0.1)
elif is_there("once"):
    print("worker goes on", flush=True)
    (here / "again").touch()
else:
    signal.signal(signal.SIGTERM, end)
    (here / "once").touch()
    print("worker sleeps", flush=True)
    time.sleep(600)
"""
TRIAL = REPORTER + (
    """
region, place = os.environ["CLOUD_ML_REGION"], os.getcwd()
print(json.dumps({"trial": trial, "region": region, "in_slurm": "/launchers/" in place}))
HyperTune().tell("loss", given.x, 1)
"""
)


VARIABLES = """\
import json, locale, os, resource
names = ("NCCL_DEBUG", "SITE", "MODULE_ROOT", "SLURM_JOB_ID", "LC_ALL", "FOOTPLATE_URL")
print(json.dumps({name: os.environ.get(name) for name in names}))
print("secrets:", sorted(n for n in os.environ if n.startswith("FOOTPLATE_S") or "JWT" in n))
print("encoding:", locale.getpreferredencoding(False))
print("files:", resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""
RESERVED = """\
import os
print("reservation:", os.environ["SLURM_JOB_RESERVATION"], "on", os.environ["SLURMD_NODENAME"])
"""
SITE = """\
env = { NCCL_DEBUG = "WARN", SITE = "it's one" }
prologue = '''
module() { export MODULE_ROOT="/modules/$1" PATH="/modules/$1:$PATH"; }
module cuda
'''
"""


@pytest.fixture
def context(serve_region: ServeRegion) -> Iterator[Context]:
    with serve_region("") as context:
        yield context


@pytest.fixture
def few_files() -> Iterator[int]:
    """Lets the service, and not the nodes, open few files at once."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (700, before[1]))
    yield 700
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_job_runs_in_slurm_and_another_on_this_machine(context: Context) -> None:
    there = context.submit(LINE, region=REGION)
    here = context.submit("print('runs here')")
    assert context.wait_for(there).state is State.SUCCEEDED, context.messages(there)
    assert context.wait_for(here).state is State.SUCCEEDED
    assert any("/launchers/" in line for line in context.messages(there))
    assert "runs here" in context.messages(here)


def test_a_program_has_what_its_site_gives(serve_region: ServeRegion, few_files: int) -> None:
    with serve_region(SITE) as context:
        name = context.submit(VARIABLES, region=REGION)
        assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
        said = context.messages(name)
    [found] = [json.loads(line) for line in said if line.startswith("{")]
    assert found.pop("SLURM_JOB_ID").isdigit()
    assert found == {
        "NCCL_DEBUG": "WARN",
        "SITE": "it's one",
        "MODULE_ROOT": "/modules/cuda",
        "LC_ALL": None,
        "FOOTPLATE_URL": None,
    }
    assert {"secrets: []", "encoding: UTF-8"} <= {*said}
    [files] = [line for line in said if line.startswith("files:")]
    assert int(files.split()[1]) > few_files


def test_a_check_runs_a_job_on_a_node(context: Context, slurm: SlurmCluster) -> None:
    lines = context.run_cli("regions", "check", REGION).splitlines()
    facts = dict(line.strip().split(None, 1) for line in lines[1:])
    assert facts["queue"] == "0 jobs run, 0 wait"
    assert "answers in" in facts["address"]
    assert "is writable" in facts["scratch"]
    assert "uv" in facts["uv"]
    assert not any(line.startswith("  problem") for line in lines)
    assert slurm.command("squeue", "-h", "-n", "footplate-check").strip() == ""


def test_a_shell_stacks_and_usage_are_had_from_a_node(context: Context) -> None:
    name = context.submit(SLEEPS, region=REGION, enableWebAccess=True)
    context.until(lambda: "sleeps" in context.messages(name))
    context.until(lambda: bool(context.job(name).resource["trainingOutput"].get("webAccessUris")))  # type: ignore[union-attr]  # JSON
    command = ("ai-platform", "jobs", "ssh", name.job_id, "--command", "pwd; echo $CLOUD_ML_JOB_ID")
    place, job_id = context.run_cli(*command).split()
    assert "/launchers/" in place
    assert job_id == name.job_id
    with context.client() as client:
        found = client.stacks(name, ()).comparison
        assert "task.py" in describe(found)
        context.until(lambda: any(usage.replica for usage in client.usage(name)))
        client.cancel(name)
    context.wait_for(name, State.CANCELLED)


def test_a_job_that_is_cancelled_in_slurm_ends_cancelled(
    context: Context, slurm: SlurmCluster
) -> None:
    name = context.submit(SLEEPS, region=REGION)
    context.until(lambda: "sleeps" in context.messages(name))
    [job] = slurm.command("squeue", "-h", "-o", "%i").split()
    slurm.command("scancel", job)
    ended = context.wait_for(name, State.CANCELLED)
    assert f"cancelled in Slurm (job {job})" in (ended.error_message or "")
    context.until(lambda: not slurm.command("squeue", "-h", "-o", "%i").strip())


def test_a_job_that_slurm_preempts_starts_again_and_has_all_its_restarts(
    context: Context, slurm: SlurmCluster, urgent: str
) -> None:
    name = context.submit(SLEEPS, region=REGION)
    context.until(lambda: "sleeps" in context.messages(name))
    job, node = slurm.command("squeue", "-h", "-o", "%i %N").split()
    options = ("-p", urgent, "-w", node, "--exclusive", "-o", "/dev/null", "--wrap=sleep 1")
    slurm.command("sbatch", *options)
    context.until(lambda: context.messages(name).count("sleeps") == 2)
    with context.client() as client:
        told = [event.message for event in client.events(name) if event.kind == "RESTART"]
        client.cancel(name)
    words = f"Slurm gave the nodes of the job to another one (job {job} in Slurm: PREEMPTED)"
    again = "only this replica starts again; this counts as no restart"
    assert told == [f"replica master-replica-0 was preempted: {words}; {again}"]
    context.wait_for(name, State.CANCELLED)


def test_the_replicas_of_a_job_find_each_other(context: Context) -> None:
    name = context.submit(MEETING, region=REGION, **PAIR)
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    assert "met worker 0" in context.messages(name)


def test_a_label_that_is_admitted_chooses_a_reservation(
    serve_region: ServeRegion, slurm: SlurmCluster
) -> None:
    made = ("reservationname=week-7", "users=root", "nodes=n2", "starttime=now", "duration=60")
    slurm.command("scontrol", "create", "reservation", *made)
    with serve_region('admit = ["reservation"]') as context:
        label = {"footplate-slurm-reservation": "week-7"}
        name = context.submit(RESERVED, region=REGION, labels=label)
        assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
        assert "reservation: week-7 on n2" in context.messages(name)
        with pytest.raises(InvalidArgument, match="doesn't admit this label"):
            context.submit(LINE, region=REGION, labels={"footplate-slurm-qos": "high"})
    slurm.command("scontrol", "delete", "reservationname=week-7")


def test_a_replica_whose_launcher_is_killed_starts_again_and_its_lines_are_kept(
    context: Context, tmp_path: Path
) -> None:
    name = context.submit(GOES_ON, region=REGION, **PAIR)
    context.until(lambda: "worker sleeps" in context.messages(name))
    [launcher] = find_launchers(f"{tmp_path}/scratch/launchers/*.worker-replica-0.*")
    os.kill(launcher, signal.SIGKILL)
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    assert "worker ends in order" in context.messages(name)
    assert "worker goes on" in context.messages(name)


def test_the_trials_of_a_search_spread_over_two_regions(context: Context) -> None:
    name = context.submit(
        TRIAL,
        labels={"footplate-trial-regions": f"us-central1_{REGION}"},
        hyperparameters=search(8, 4, algorithm="RANDOM_SEARCH"),
    )
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    assert [trial.state for trial in trials(context, name)] == ["SUCCEEDED"] * 8
    said = {number: found[0] for number, found in starts(context, name).items()}
    assert said == {
        str(number): {"trial": number, "region": region, "in_slurm": region == REGION}
        for number, region in enumerate(("us-central1", REGION) * 4, 1)
    }
