"""Jobs of a real Slurm that wait for the next replica when their own has ended."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.domain.job_states import State
from footplate.ports.backend import AttemptStart, Presence
from tests.e2e.service.conftest import Context
from tests.e2e.slurm.conftest import REGION, ServeRegion
from tests.support.backend_rig import WORKERS, all_are, make_request, see
from tests.support.engine_rig import REGION as RIG_REGION
from tests.support.slurm import SlurmCluster
from tests.support.slurm_rig import SlurmRig

CHIEF = WORKERS[0]
LEAVES = """\
import os, pathlib, subprocess, sys, tempfile
os.environ["LEFT"] = "by the first job"
for folder in (".", tempfile.gettempdir()):
    pathlib.Path(folder, "left-behind").write_text("by the first job")
command = [sys.executable, "-c", "import time; time.sleep(600)", "left-behind"]
subprocess.Popen(command, start_new_session=True)
print("slurm", os.environ["SLURM_JOB_ID"])
"""
FINDS = """\
import os, pathlib, tempfile
words = [path.read_text() for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")]
print("processes", sum("left-behind" in each for each in words))
print("files", [os.path.exists(f"{each}/left-behind") for each in (".", tempfile.gettempdir())])
print("variable", os.environ.get("LEFT"))
print("slurm", os.environ["SLURM_JOB_ID"])
"""


def run(context: Context, source: str) -> dict[str, str]:
    """The words of a job's lines by their first ones."""
    name = context.submit(source, region=REGION)
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    return dict(line.split(" ", 1) for line in context.messages(name) if " " in line)


def kept(context: Context) -> str:
    lines = context.run_cli("regions", "check", REGION).splitlines()
    [said] = (line for line in lines if "kept warm" in line)
    return said.split(None, 2)[2]


def left_processes() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_text())
        except OSError:  # it has ended
            continue
    return [words for words in found if "left-behind" in words]


def test_the_next_job_runs_in_the_job_of_the_last_one_and_finds_nothing_of_it(
    serve_region: ServeRegion, slurm: SlurmCluster, tmp_path: Path
) -> None:
    with serve_region("keep_warm_s = 300") as context:
        first = run(context, LEAVES)["slurm"]
        context.until(lambda: kept(context).startswith("1 jobs hold nodes"))
        assert f"({first})" in kept(context)
        assert not left_processes()
        assert not list((tmp_path / "scratch").glob("launchers/*/home~*"))
        second = run(context, FINDS)
        assert second.pop("slurm") == first
        assert second == {"processes": "0", "files": "[False, False]", "variable": "None"}
        context.until(lambda: kept(context).startswith("1 jobs hold nodes"))
        sleeps = context.submit("import time\nprint('sleeps')\ntime.sleep(600)", region=REGION)
        context.until(lambda: "sleeps" in context.messages(sleeps))
        # The launcher says where it runs a moment later.
        context.until(lambda: "engineJobs" in context.job(sleeps).resource)
        there = context.job(sleeps).resource["engineJobs"]
        assert f"runs in job {first} of Slurm" in str(there)
        with context.client() as client:
            client.cancel(sleeps)
        context.wait_for(sleeps, State.CANCELLED)
        context.until(lambda: not slurm.command("squeue", "-h", "-o", "%i").strip())


@pytest.fixture
def rig(slurm: SlurmCluster, tmp_path: Path) -> Iterator[SlurmRig]:
    rig = SlurmRig(slurm, tmp_path, keep_warm_s=300.0)
    yield rig
    rig.close()


def wait_after(rig: SlurmRig, request: AttemptStart) -> str:
    """Runs an attempt, whose launcher waits then; returns the job in Slurm."""
    job = start(rig, request)
    rig.finish(request.attempt_id, CHIEF)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    rig.backend.forget(request.attempt_id)
    rig.settle(lambda: [each.job for each in rig.calls.warm[RIG_REGION].waiting()] == [job])
    return job


def start(rig: SlurmRig, request: AttemptStart) -> str:
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    return see(rig.backend, request)[0].engine_id


@pytest.mark.parametrize(("part", "stays"), [("launcher", True), ("parent", False)])
def test_what_is_killed_while_it_waits_costs_no_start(
    rig: SlurmRig, part: str, *, stays: bool
) -> None:
    """The parent starts another launcher, which goes on waiting."""
    job = wait_after(rig, make_request("u-1"))
    launcher, parent = rig.launcher_with_parent("u-1", CHIEF)
    os.kill(launcher if stays else parent, signal.SIGKILL)
    # Without a child the parent itself counts as a launcher.
    rig.settle(lambda: not {launcher, *([parent] if stays else [])} & {*rig.launcher_pids("u-1")})
    if stays:
        rig.settle(lambda: bool(rig.calls.warm[RIG_REGION].waiting()))
    assert (start(rig, make_request("u-2")) == job) is stays


def test_a_job_that_is_preempted_between_two_replicas_ends_neither(
    rig: SlurmRig, urgent: str
) -> None:
    job = wait_after(rig, make_request("u-1"))
    node = rig.cluster.command("squeue", "-h", "-j", job, "-o", "%N").strip()
    options = ("-p", urgent, "-w", node, "--exclusive", "-o", "/dev/null", "--wrap=sleep 1")
    rig.cluster.command("sbatch", *options)
    rig.settle(lambda: state(rig, job) == "PREEMPTED")
    assert start(rig, make_request("u-2")) != job


def state(rig: SlurmRig, job: str) -> str:
    return rig.cluster.command("squeue", "-h", "-t", "all", "-j", job, "-o", "%T").strip()
