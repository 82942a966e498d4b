"""A verdict, for people: whole outputs, at most 80 columns wide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.catalogue import load_catalogue
from footplate.cli import dry_run
from footplate.cli.dry_run import UNLIMITED
from footplate.domain.errors import Violation
from footplate.domain.jobs import ContainerProgram, MachineSpec, PythonProgram, WorkerPool
from footplate.domain.preview.parity import Parity
from footplate.domain.preview.plan import Plan, plan
from footplate.domain.preview.verdict import Outlook, Verdict
from footplate.domain.sites import EngineMachines
from footplate.wire.footplate_v1 import verdicts as answers
from tests.support.jobs import make_spec
from tests.support.sites import make_engine_site, make_site

GOOD = Verdict((), (), Parity(accepted=True), queue=Outlook(starts_now=True))


def headline(verdict: Verdict, width: int = UNLIMITED) -> str:
    return dry_run.headline(answers.Verdict.of(verdict), width)


def report(verdict: Verdict, width: int = UNLIMITED) -> str:
    return dry_run.report(answers.Verdict.of(verdict), width)


def guide(*, ps_image: bool = False) -> Plan:
    """The guide's example: a master and 9 workers with 4 T4 each, 3 parameter servers."""
    machine = MachineSpec("n1-highcpu-16", "NVIDIA_TESLA_T4", 4)
    program = PythonProgram("version:2.21/", ("gs://b/t.tar.gz",), "trainer.task", ("--x", "a b"))
    base = make_spec(program=program)
    master = replace(base.primary, machine=machine)
    worker = replace(
        master, cluster_role="worker", replica_prefix="worker-replica", replica_count=9
    )
    image = ContainerProgram("gcr.io/p/ps", args=("--port", "1"))
    other = image if ps_image else program
    ps = WorkerPool("ps", "ps-replica", MachineSpec("n1-highmem-8"), 3, other)
    spec = replace(base, pools=(master, worker, ps))
    return plan(spec, load_catalogue(), make_site(), job_id="census_1")


def test_an_engines_region_says_what_is_enforced_there() -> None:
    site = make_engine_site(EngineMachines("Slurm", limits="memory by Slurm"))
    verdict = replace(GOOD, plan=plan(make_spec(), load_catalogue(), site))
    assert "\nLimits    memory by Slurm\n" in report(verdict, 80)
    assert "Limits" not in report(replace(GOOD, plan=guide()), 80)


def test_an_accepted_job_with_its_plan() -> None:
    verdict = replace(GOOD, plan=guide(), warnings=("it is late",))

    assert headline(verdict) == "ACCEPTED: the job would start now."
    text = report(verdict, 80)
    zone = verdict.plan.zone if verdict.plan else ""
    assert (
        text
        == f"""\
Warnings:
- it is late

Google's service would accept the job, by Google's documented rules.

Plan for us-central1, zone {zone}:
REPLICAS             MACHINE        VCPUS  MEMORY   ACCELERATORS  DISK
master-replica-0     n1-highcpu-16  16     14.4 GB  4 TESLA_T4    100 GB pd-ssd
worker-replica-0..8  n1-highcpu-16  16     14.4 GB  4 TESLA_T4    100 GB pd-ssd
ps-replica-0..2      n1-highmem-8   8      52 GB    -             100 GB pd-ssd

Runs      python -m trainer.task --x 'a b'
In        runtime 2.21, Python 3.11
With      gs://b/t.tar.gz
Sets      CLOUD_ML_JOB_ID, TF_CONFIG, MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE
Counts    184 vCPUs, 40 NVIDIA_TESLA_T4, 1 job

1. The job starts as soon as there is room for all 13 replicas at once.
2. All 13 replicas start together, from master-replica-0 to ps-replica-2.
3. The job ends when replica master-replica-0 ends, with the same result; then
   the server stops the others.
4. If another replica's program fails before that, the others go on. The job
   fails only if all of them then print nothing and stay idle (setting hang_s).
5. The server cancels the job when it has run for 7 days.
6. A replica whose machine is lost starts again in place, at most 5 times.
7. After that all replicas start again, at most 3 times."""
    )


def test_pools_that_run_something_else() -> None:
    text = report(replace(GOOD, plan=guide(ps_image=True)))

    assert "Runs      python -m trainer.task --x 'a b'  (master, worker)\n" in text
    assert "Runs      the image's command --port 1  (ps)\nIn        image gcr.io/p/ps\n" in text


def test_what_is_not_known_is_not_made_up() -> None:
    spec = make_spec(program=PythonProgram("version:9.9/", (), "m"))
    pool = replace(spec.primary, machine=MachineSpec("x9-huge"))
    made = plan(replace(spec, pools=(pool,)), load_catalogue(), make_site())

    text = report(replace(GOOD, plan=made))

    assert "master-replica-0  x9-huge  ?      ?       -             100 GB pd-ssd" in text
    assert "In        runtime version:9.9/\n" in text


def test_a_refused_job_has_a_line_for_each_field() -> None:
    long = "n1-standard-5 given; allowed: " + ", ".join(f"n1-standard-{n}" for n in range(20))
    verdict = Verdict(
        (Violation("trainingInput.masterType", long), Violation("jobId", "'1' given")),
        (),
        Parity(
            accepted=False, reasons=("Google's service would refuse the job for the same reasons",)
        ),
    )

    assert headline(verdict) == "REJECTED: 2 fields are wrong."
    lines = report(verdict).splitlines()
    assert lines[:2] == [f"- trainingInput.masterType: {long}", "- jobId: '1' given"]
    assert lines[3:] == [
        "Google's service would refuse the job:",
        "- Google's service would refuse the job for the same reasons",
    ]
    narrow = report(verdict, 80).splitlines()
    assert max(len(line) for line in narrow) <= 80
    assert narrow[0] == "- trainingInput.masterType: n1-standard-5 given; allowed: n1-standard-0,"
    assert narrow[1].startswith("  n1-standard-1, ")


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (
            Verdict((Violation("jobId", "'1' given"),), (), Parity(accepted=False)),
            "REJECTED: 1 field is wrong.",
        ),
        (replace(GOOD, refusal="job_1 exists already"), "REJECTED: job_1 exists already"),
        (
            replace(GOOD, queue=Outlook(starts_now=False, place=2, text="job_1 holds all.")),
            "ACCEPTED: the job would not start now. job_1 holds all.",
        ),
    ],
)
def test_headlines(verdict: Verdict, said: str) -> None:
    assert headline(verdict) == said


def test_parity_that_is_not_certain() -> None:
    verdict = replace(GOOD, parity=Parity(None, ("the image is new",)))

    assert report(verdict) == (
        "It isn't certain whether Google's service would accept the job:\n- the image is new"
    )
