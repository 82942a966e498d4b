"""Jobs for tests: whole and plausible, with only what a test cares about to be said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from footplate.domain.job_states import State
from footplate.domain.jobs import (
    ClusterVariable,
    Directory,
    Job,
    JobSpec,
    MachineSpec,
    PythonProgram,
    WorkerPool,
)
from footplate.domain.names import (
    CustomJobName,
    JobName,
    JobUid,
    TrainingJobName,
    TuningJobName,
    parse_job_name,
)
from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.parameters import DoubleParameter
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import Algorithm, StudyConfig
from footplate.domain.tuning.search import Search, TrialCounts

if TYPE_CHECKING:
    from footplate.domain.jobs import Program, Scheduling

CREATED = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
"""When jobs were made, unless the test says otherwise."""

MACHINE = MachineSpec("n1-standard-4")

PROGRAM = PythonProgram(
    runtime="2.21",
    package_uris=("gs://demo-bucket/packages/trainer-0.1.tar.gz",),
    module="trainer.task",
    args=("--steps", "3"),
)


def make_job(
    name: JobName | str = "projects/demo/jobs/job_1",
    *,
    uid: str | None = None,
    created: datetime = CREATED,
    spec: JobSpec | None = None,
    display_name: str | None = None,
    labels: tuple[tuple[str, str], ...] = (),
    state: State = State.QUEUED,
    request: str = "{}",
) -> Job:
    """A new job with this resource name, of the face that the name belongs to.

    Without ``uid`` it gets one that depends on the name alone. For a job further on in its
    life, let ``react`` take it there, or ``dataclasses.replace``.
    """
    parsed = parse_job_name(name) if isinstance(name, str) else name
    return Job(
        uid=JobUid(uid or uuid5(NAMESPACE_URL, str(parsed)).hex),
        name=parsed,
        display_name=parsed.job_id if display_name is None else display_name,
        spec=spec or make_spec(parsed),
        request=request,
        create_time=created,
        update_time=created,
        labels=labels,
        state=state,
    )


def make_spec(
    name: JobName | None = None,
    *,
    workers: int = 0,
    evaluators: int = 0,
    machine: MachineSpec = MACHINE,
    program: Program = PROGRAM,
    region: str = "us-central1",
    scheduling: Scheduling | None = None,
) -> JobSpec:
    """What the face of ``name`` makes of a job with one primary and so many more replicas.

    All of them have the same ``machine``.
    """
    if isinstance(name, CustomJobName | TuningJobName):
        spec = _make_custom_spec(name, workers, program)
    else:
        spec = _make_training_spec(region, workers, program)
    if evaluators:
        role, prefix = _evaluator(name)
        spec = replace(spec, pools=(*spec.pools, _make_pool(role, prefix, evaluators, program)))
    pools = tuple(replace(pool, machine=machine) for pool in spec.pools)
    return replace(spec, pools=pools, scheduling=scheduling or spec.scheduling)


def _evaluator(name: JobName | None) -> tuple[str, str]:
    """Role and prefix of evaluators."""
    if isinstance(name, CustomJobName | TuningJobName):
        return "workerpool3", "workerpool3"
    return "evaluator", "evaluator-replica"


def make_search(trials: int = 4, parallel: int = 2) -> Search:
    """A random one over a single parameter."""
    space = SearchSpace((DoubleParameter("x", 0.0, 1.0),))
    config = StudyConfig(space, (Metric("m"),), Algorithm.RANDOM)
    return Search(config, TrialCounts(trials, parallel))


def make_training_name(job_id: str = "job_1", project: str = "demo") -> TrainingJobName:
    return TrainingJobName(project, job_id)


def make_custom_name(
    job_id: str = "1234567890", project: str = "demo", location: str = "us-central1"
) -> CustomJobName:
    return CustomJobName(project, location, job_id)


def _make_training_spec(region: str, workers: int, program: Program) -> JobSpec:
    pools = [_make_pool("master", "master-replica", 1, program)]
    if workers:
        pools.append(_make_pool("worker", "worker-replica", workers, program))
    return JobSpec(
        region=region,
        pools=tuple(pools),
        cluster_variables=frozenset({ClusterVariable.TF_CONFIG}),
        chief_role="master",
    )


def _make_custom_spec(
    name: CustomJobName | TuningJobName, workers: int, program: Program
) -> JobSpec:
    pools = [_make_pool("workerpool0", "workerpool0", 1, program)]
    if workers:
        pools.append(_make_pool("workerpool1", "workerpool1", workers, program))
    output = f"gs://demo-bucket/output/{name.job_id}"
    return JobSpec(
        region=name.location,
        pools=tuple(pools),
        directories=(
            Directory("AIP_MODEL_DIR", f"{output}/model/"),
            Directory("AIP_CHECKPOINT_DIR", f"{output}/checkpoints/"),
            Directory("AIP_TENSORBOARD_LOG_DIR", f"{output}/logs/"),
        ),
        environment=(("CLOUD_ML_PROJECT_ID", name.project),),
        cluster_variables=frozenset(ClusterVariable),
    )


def _make_pool(role: str, prefix: str, count: int, program: Program) -> WorkerPool:
    return WorkerPool(
        cluster_role=role,
        replica_prefix=prefix,
        machine=MACHINE,
        replica_count=count,
        program=program,
    )
