"""What would run where, in which order."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.directory_form import DirectoryForm
from footplate.domain.jobs import (
    ContainerProgram,
    Directory,
    DiskSpec,
    JobSpec,
    MachineSpec,
    PythonProgram,
    Scheduling,
    WorkerPool,
)
from footplate.domain.machine_hours import NO_PRICES, Prices
from footplate.domain.names import TrainingJobName
from footplate.domain.preview.plan import PlannedMachine, PlannedProgram, plan, words
from footplate.domain.sites import EngineMachines, Gpu, Mode, Site
from footplate.domain.studies.parameters import Branch, CategoricalParameter, DoubleParameter
from footplate.domain.studies.space import SearchSpace
from footplate.domain.tuning.search import SearchRequest, TrialCounts
from tests.support.jobs import make_custom_name, make_spec
from tests.support.sites import make_engine_site

CATALOGUE = load_catalogue()
LAPTOP = Site("laptop", Mode.EMULATE, replicas=8, vcpus=4, memory_mb=16_000)
CLUSTER = Site("cluster", Mode.ENFORCE, replicas=1000, vcpus=512, memory_mb=4_000_000)
T4 = "NVIDIA_TESLA_T4"


def guide() -> JobSpec:
    """The guide's example: a master and 9 workers with 4 T4 each, 3 parameter servers."""
    machine = MachineSpec("n1-highcpu-16", T4, 4)
    program = PythonProgram("version:2.21/", ("gs://b/t.tar.gz",), "trainer.task", ("--x", "1"))
    base = make_spec(program=program)
    master = replace(base.primary, machine=machine)
    worker = replace(
        master, cluster_role="worker", replica_prefix="worker-replica", replica_count=9
    )
    ps = WorkerPool("ps", "ps-replica", MachineSpec("n1-highmem-8"), 3, program)
    return replace(base, pools=(master, worker, ps), job_dir="gs://b/out")


def test_prices_give_what_it_costs_at_most() -> None:
    prices = Prices("EUR", {"n1-standard-4": 0.5})
    hour = replace(make_spec(workers=1), scheduling=Scheduling(max_running_time_s=3600))
    cost = "The job costs at most 1.00 EUR, for 2 machine-hours."
    assert plan(hour, CATALOGUE, LAPTOP, prices=prices).steps[-1] == cost
    search = SearchRequest(TrialCounts(10, 2))
    steps = plan(hour, CATALOGUE, LAPTOP, prices=prices, search=search).steps
    assert steps[-1] == "The job costs at most 10.00 EUR, for 20 machine-hours."
    unlimited = replace(hour, scheduling=Scheduling(max_running_time_s=0))
    for spec, given in ((hour, NO_PRICES), (hour, Prices("EUR")), (unlimited, prices)):
        assert not any(
            "costs" in step for step in plan(spec, CATALOGUE, LAPTOP, prices=given).steps
        )


def test_an_engine_has_no_mode_and_says_what_it_enforces() -> None:
    site = make_engine_site(EngineMachines("Ray", limits="none: Ray doesn't limit programs"))
    made = plan(make_spec(), CATALOGUE, site)
    assert (made.mode, made.limits) == (None, "none: Ray doesn't limit programs")
    assert plan(make_spec(), CATALOGUE, LAPTOP).mode is Mode.EMULATE


def test_the_guides_example() -> None:
    made = plan(guide(), CATALOGUE, CLUSTER, job_id="census_1")

    assert made.region == "us-central1"
    assert T4 in next(
        zone.accelerators
        for zone in CATALOGUE.regions["us-central1"].zones
        if zone.name == made.zone
    )
    assert [(pool.role, len(pool.replicas), pool.replicas[-1]) for pool in made.pools] == [
        ("master", 1, "master-replica-0"),
        ("worker", 9, "worker-replica-8"),
        ("ps", 3, "ps-replica-2"),
    ]
    assert made.pools[0].machine == PlannedMachine(
        "n1-highcpu-16", 16, 14.4, T4, 4, DiskSpec("pd-ssd", 100)
    )
    assert made.pools[0].program == PlannedProgram(
        runtime="2.21",
        python="3.11",
        module="trainer.task",
        packages=("gs://b/t.tar.gz",),
        args=("--x", "1", "--job-dir", "gs://b/out"),
    )
    assert made.counts == {"vcpus": 184, T4: 40, "jobs": 1}
    assert made.holds[T4] == 40


def test_the_variables_are_those_that_the_service_sets_with_names_for_addresses() -> None:
    variables = dict(plan(guide(), CATALOGUE, CLUSTER, job_id="census_1").pools[2].variables)

    assert variables["CLOUD_ML_JOB_ID"] == "census_1"
    described = json.loads(variables["TF_CONFIG"])
    assert described["task"] == {"type": "ps", "index": 0, "cloud": "census_1"}
    assert described["cluster"]["master"] == ["master-replica-0:2222"]
    assert len(described["cluster"]["worker"]) == 9


def test_a_variable_that_the_user_sets_is_not_the_services() -> None:
    spec = make_spec(make_custom_name())
    own = replace(spec.primary, environment=(("TF_CONFIG", "{}"), ("MINE", "secret")))

    (pool,) = plan(replace(spec, pools=(own,)), CATALOGUE, LAPTOP).pools

    names = [name for name, _ in pool.variables]
    assert "TF_CONFIG" not in names
    assert "MINE" not in names
    assert {"CLUSTER_SPEC", "AIP_MODEL_DIR", "CLOUD_ML_PROJECT_ID"} <= set(names)


@pytest.mark.parametrize(
    ("form", "out"), [(DirectoryForm.URIS, "gs://b/out"), (DirectoryForm.PATHS, "/gcs/b/out")]
)
def test_directories_are_told_as_programs_get_them(form: DirectoryForm, out: str) -> None:
    spec = replace(
        make_spec(program=PythonProgram("version:/", (), "m")),
        job_dir="gs://b/out",
        directories=(Directory("AIP_MODEL_DIR", "gs://b/out/model/"),),
        directory_form=form,
    )

    (pool,) = plan(spec, CATALOGUE, LAPTOP).pools

    assert pool.program.args == ("--job-dir", out)
    assert dict(pool.variables)["AIP_MODEL_DIR"] == f"{out}/model/"


def test_the_gpus_of_a_site_that_has_some() -> None:
    site = replace(CLUSTER, gpus=tuple(Gpu(f"GPU-{n}", T4) for n in range(8)))
    spec = replace(guide(), pools=guide().pools[:1])

    (pool,) = plan(spec, CATALOGUE, site).pools

    assert dict(pool.variables)["CUDA_VISIBLE_DEVICES"] == "GPU-0,GPU-1,GPU-2,GPU-3"


def test_a_container_keeps_what_its_image_says() -> None:
    spec = make_spec(program=ContainerProgram("gcr.io/p/trainer", args=("--x",)))

    (pool,) = plan(spec, CATALOGUE, LAPTOP).pools

    assert pool.program == PlannedProgram(image="gcr.io/p/trainer", args=("--x",))


def test_pools_without_replicas_are_left_out_and_what_is_unknown_is_not_made_up() -> None:
    spec = make_spec(program=PythonProgram("version:9.9/", (), "m"))
    machine = MachineSpec("x9-huge")
    unused = replace(spec.primary, cluster_role="worker", replica_count=0)
    spec = replace(spec, region="mars", pools=(replace(spec.primary, machine=machine), unused))

    made = plan(spec, CATALOGUE, LAPTOP)

    assert made.zone is None
    assert [pool.role for pool in made.pools] == ["master"]
    assert made.pools[0].machine.vcpus is None
    assert (made.pools[0].program.runtime, made.pools[0].program.python) == ("version:9.9/", None)


def test_what_starts_when_with_several_replicas() -> None:
    scheduling = Scheduling(3600.0, max_wait_time_s=1800.0, priority=500)

    steps = plan(replace(guide(), scheduling=scheduling), CATALOGUE, LAPTOP).steps

    assert steps == (
        "The job starts with priority 500 as soon as there is room for all 13 replicas at once.",
        "The server cancels the job if it isn't running 30 minutes after it was submitted.",
        "All 13 replicas start together, from master-replica-0 to ps-replica-2.",
        (
            "The job ends when replica master-replica-0 ends, with the same result; then the "
            "server stops the others."
        ),
        (
            "If another replica's program fails before that, the others go on. The job fails "
            "only if all of them then print nothing and stay idle (setting hang_s)."
        ),
        "The server cancels the job when it has run for 1 hour.",
        "A replica whose machine is lost starts again in place, at most 5 times.",
        "After that all replicas start again, at most 3 times.",
    )


def test_what_starts_when_with_one_replica() -> None:
    scheduling = Scheduling(max_restarts=0, max_retries=0)

    steps = plan(replace(make_spec(), scheduling=scheduling), CATALOGUE, LAPTOP).steps

    assert steps == (
        "The job starts as soon as there is room for its replica.",
        "The job ends when replica master-replica-0 ends, with the same result.",
        "The server cancels the job when it has run for 7 days.",
        "If a machine is lost, the job fails.",
    )


@pytest.mark.parametrize(
    ("limits", "step"),
    [
        (Scheduling(), "If a machine is lost, the job starts again, at most 8 times."),
        (Scheduling(max_restarts=1, max_retries=0), "the job starts again, at most once."),
    ],
)
def test_how_often_a_lone_replica_starts_again(limits: Scheduling, step: str) -> None:
    assert plan(make_spec(scheduling=limits), CATALOGUE, LAPTOP).steps[-1].endswith(step)


def test_how_often_all_replicas_start_again_together() -> None:
    spec = make_spec(workers=1, scheduling=Scheduling(restarts_together=True))

    assert plan(spec, CATALOGUE, LAPTOP).steps[-1] == (
        "If a machine is lost, all replicas start again, at most 8 times."
    )


def test_a_job_without_pools() -> None:
    made = plan(JobSpec(region="us-central1", pools=()), CATALOGUE, LAPTOP)

    assert (made.pools, made.steps) == ((), ())


@pytest.mark.parametrize(
    ("duration_s", "said"),
    [
        (604_800, "7 days"),
        (86_400, "1 day"),
        (5400, "90 minutes"),
        (3600, "1 hour"),
        (61, "61 seconds"),
        (1, "1 second"),
        (0.5, "0.5 seconds"),
        (0, "0 seconds"),
    ],
)
def test_lengths_of_time(duration_s: float, said: str) -> None:
    assert words(duration_s) == said


def search_request(trials: int, parallel: int) -> SearchRequest:
    top = CategoricalParameter(
        "opt", ("adam", "sgd"), branches=(Branch(("sgd",), DoubleParameter("momentum", 0, 1)),)
    )
    space = SearchSpace((DoubleParameter("lr", 0, 1), top))
    return SearchRequest(TrialCounts(trials, parallel), space)


def test_a_plan_says_whose_parameters_a_resuming_job_has() -> None:
    earlier = TrainingJobName("demo", "rate_1")
    search = SearchRequest(TrialCounts(3, 1), resumes=earlier)
    made = plan(guide(), CATALOGUE, CLUSTER, search=search)
    said = (
        "Each trial gets the parameters of projects/demo/jobs/rate_1, whose search this job "
        "continues."
    )
    assert said in made.steps


@pytest.mark.parametrize(
    ("trials", "parallel", "said"),
    [
        (30, 2, "The search runs 30 trials of 13 machines, 2 at a time."),
        (3, 9, "The search runs 3 trials of 13 machines, 3 at a time."),
        (3, 1, "The search runs 3 trials of 13 machines, one after the other."),
        (1, 2, "The search runs 1 trial of 13 machines."),
    ],
)
def test_how_many_trials_a_search_runs(trials: int, parallel: int, said: str) -> None:
    search = search_request(trials, parallel)
    made = plan(guide(), CATALOGUE, CLUSTER, search=search)
    assert made.steps[0] == said
    assert made.steps[2:] == plan(guide(), CATALOGUE, CLUSTER).steps
    assert plan(make_spec(), CATALOGUE, CLUSTER, search=search).steps[0] == said.replace(
        "13 machines", "1 machine"
    )


def test_the_plan_of_a_search_is_that_of_its_first_trial() -> None:
    spec = replace(guide(), directories=(Directory(None, "gs://b/out", "trainingInput.jobDir"),))
    made = plan(spec, CATALOGUE, CLUSTER, job_id="census_1", search=search_request(30, 2))
    arguments = ("--x", "1", "--lr=...", "--opt=...", "--momentum=...", "--job-dir", "gs://b/out/1")
    assert [pool.program.args for pool in made.pools] == [arguments] * 3
    variables = dict(made.pools[0].variables)
    assert (variables["CLOUD_ML_TRIAL_ID"], variables["CLOUD_ML_JOB_ID"]) == ("1", "census_1")
    assert json.loads(variables["TF_CONFIG"])["task"]["trial"] == "1"
    assert made.counts == plan(guide(), CATALOGUE, CLUSTER).counts


def test_a_search_that_resumes_another_has_parameters_that_are_not_known_yet() -> None:
    made = plan(guide(), CATALOGUE, CLUSTER, search=SearchRequest(TrialCounts(5, 1)))
    assert made.pools[0].program.args == ("--x", "1", "--job-dir", "gs://b/out/1")
