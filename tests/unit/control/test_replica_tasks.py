from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.images import Images
from footplate.control.job_updates import apply
from footplate.control.node_places import NodePlaces
from footplate.control.reduction_setup import ReductionKit
from footplate.control.replica_tasks import Limits, Tasks
from footplate.control.tokens import Bearer
from footplate.control.wheels import Wheel
from footplate.domain.directory_form import DirectoryForm
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.domain.jobs import (
    Address,
    Directory,
    Exit,
    ExitKind,
    Job,
    MachineSpec,
    PythonProgram,
)
from footplate.domain.lifecycle import (
    Admitted,
    CancelRequested,
    Event,
    ReplicaExited,
    ReplicaGone,
    ReplicaReady,
    react,
)
from footplate.domain.names import attempt_id
from footplate.domain.reduction import IMAGE, program
from footplate.domain.sites import Gpu, Mode, Site
from footplate.protocol.task import Allotment, BoundBucket, PythonTask
from tests.support.clock import FakeClock
from tests.support.container_engine import FakeContainerEngine
from tests.support.jobs import CREATED, make_custom_name, make_job, make_spec
from tests.support.store import MemoryStore

HERE = "http://here"
MASTER = "master-replica-0"
PYTORCH = "image:us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311:latest"
WORKER = "worker-replica-0"
CATALOGUE = load_catalogue()
WHEEL = Wheel("footplate_reduction-1-py3-none-any.whl", b"wheel")
ALGORITHMS_WHEEL = Wheel("footplate_algorithms-1-py3-none-any.whl", b"algorithms")
KIT = ReductionKit(b"key", WHEEL)
SITE = Site("this machine", Mode.EMULATE, 4, 8, 32 << 10)
GPUS = replace(SITE, gpus=(Gpu("0", "NVIDIA_L4"), Gpu("1", "NVIDIA_L4"), Gpu("2", "NVIDIA_L4")))


@pytest.fixture
def buckets(tmp_path: Path) -> FolderBuckets:
    buckets = FolderBuckets(tmp_path / "buckets", FakeClock())
    buckets.create_bucket("stage")
    buckets.write("stage", "pkg/trainer-0.1.tar.gz", [b"bytes"])
    return buckets


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(CREATED)


@pytest.fixture
def engine() -> FakeContainerEngine:
    return FakeContainerEngine()


@pytest.fixture
def make_tasks(
    store: MemoryStore, buckets: FolderBuckets, clock: FakeClock, engine: FakeContainerEngine
) -> Callable[[Site], Tasks]:
    def make(site: Site) -> Tasks:
        sites = {"us-central1": site}
        limits = Limits(1.0, 2.0, 600.0)
        return Tasks(
            store,
            buckets,
            CATALOGUE,
            sites.__getitem__,
            clock,
            limits,
            lambda: 2222,
            KIT,
            ALGORITHMS_WHEEL,
            Images(store),
            engine,
            lambda bearer, relay: (("STORAGE_EMULATOR_HOST", f"{relay or HERE}/key-of-{bearer}"),),
        )

    return make


@pytest.fixture
def tasks(make_tasks: Callable[[Site], Tasks]) -> Tasks:
    return make_tasks(SITE)


@pytest.fixture
def job(store: MemoryStore) -> Job:
    program = PythonProgram(
        "version:/", ("gs://stage/pkg/trainer-0.1.tar.gz",), "trainer.task", ("--x", "a b")
    )
    spec = make_spec(program=program)
    pool = replace(spec.primary, environment=(("OUT", "$(AIP_MODEL_DIR)m"),))
    spec = replace(
        spec,
        pools=(pool,),
        job_dir="gs://stage/out",
        directories=(
            Directory(None, "gs://stage/out"),
            Directory("AIP_MODEL_DIR", "gs://stage/out/model/"),
        ),
    )
    job = make_job(spec=spec)
    store.create(job, ())
    admitted = react(job, Admitted(job.create_time)).job
    store.update(admitted, ())
    return admitted


def test_what_a_replica_is_to_do(tasks: Tasks, job: Job, tmp_path: Path) -> None:
    task = tasks.task(Bearer(job.attempt_id, MASTER))

    out = str(tmp_path / "buckets" / "stage" / "out")
    assert isinstance(task.program, PythonTask)
    assert task.program.args == ("--x", "a b", "--job-dir", "gs://stage/out")
    assert task.directories == (out, f"{out}/model/")
    variables = dict(task.environment)
    assert variables["OUT"] == "gs://stage/out/model/m"
    assert variables["CLOUD_ML_JOB_ID"] == "job_1"
    assert json.loads(variables["TF_CONFIG"])["job"] == json.loads(job.spec.cluster_job)
    assert task.packages[0].file == "trainer-0.1.tar.gz"
    assert task.runtime is not None
    assert task.runtime.name == "2.21"


def test_the_command_of_a_prebuilt_image_has_the_whole_runtime(
    tasks: Tasks, store: MemoryStore, job: Job
) -> None:
    program = PythonProgram("version:/", (), "", ("$(OUT)", "x"), ("sh", "-c", "echo $(OUT)"))
    pools = (replace(job.spec.primary, program=program),)
    spec = replace(job.spec, pools=pools, job_dir=None)
    store.update(replace(job, spec=spec, version=job.version + 1), ())

    task = tasks.task(Bearer(job.attempt_id, MASTER))

    model = "gs://stage/out/model/m"
    assert task.program == PythonTask("", (), ("sh", "-c", f"echo {model}", model, "x"))
    assert dict(task.environment)["FOOTPLATE_RUNTIME_SLICE"] == "full"


@pytest.mark.parametrize(
    ("node", "out"),
    [
        (NodePlaces(gcs=True), "/gcs/stage/out"),
        (NodePlaces(), "{folder}/stage/out"),
        (NodePlaces("http://127.0.0.1:7", "/scratch/files"), "/scratch/files/stage/out"),
    ],
)
def test_directories_are_paths_where_the_job_asks_for_it(
    tasks: Tasks, store: MemoryStore, job: Job, tmp_path: Path, node: NodePlaces, out: str
) -> None:
    spec = replace(job.spec, directory_form=DirectoryForm.PATHS)
    store.update(replace(job, spec=spec, version=job.version + 1), ())

    task = tasks.task(Bearer(job.attempt_id, MASTER), node)

    out = out.format(folder=tmp_path / "buckets")
    assert isinstance(task.program, PythonTask)
    assert task.program.args == ("--x", "a b", "--job-dir", out)
    assert dict(task.environment)["OUT"] == f"{out}/model/m"


def test_storage_is_found_at_an_address_of_the_replicas_own(tasks: Tasks, job: Job) -> None:
    bearer = Bearer(job.attempt_id, MASTER)
    variables = dict(tasks.task(bearer).environment)
    assert variables["STORAGE_EMULATOR_HOST"] == f"{HERE}/key-of-{bearer}"
    assert variables["GOOGLE_CLOUD_PROJECT"] == job.name.project


def test_storage_is_found_on_another_machine_where_its_launcher_relays(
    tasks: Tasks, store: MemoryStore, job: Job, gang: Job
) -> None:
    node, bearer = NodePlaces("http://127.0.0.1:7"), Bearer(job.attempt_id, MASTER)
    task = tasks.task(bearer, node)
    address = f"http://127.0.0.1:7/key-of-{bearer}"
    assert dict(task.environment)["STORAGE_EMULATOR_HOST"] == address
    assert task.account == ""

    for replica in (MASTER, WORKER):
        ready = ReplicaReady(CREATED, gang.attempt, replica, Address("192.0.2.9", 41001))
        gang = react(gang, ready).job
        store.update(gang, ())
    bearer = Bearer(gang.attempt_id, MASTER)
    variables = dict(tasks.start(bearer, node).environment or ())
    assert variables["STORAGE_EMULATOR_HOST"] == f"http://127.0.0.1:7/key-of-{bearer}"


def test_on_a_node_without_the_servers_folders_what_the_job_names_is_a_copy(
    tasks: Tasks, job: Job
) -> None:
    node = NodePlaces("http://127.0.0.1:7", "/scratch/files")
    task = tasks.task(Bearer(job.attempt_id, MASTER), node)
    out = "/scratch/files/stage/out"
    assert isinstance(task.program, PythonTask)
    assert task.program.args == ("--x", "a b", "--job-dir", "gs://stage/out")
    assert task.directories == (out, f"{out}/model/")
    assert task.buckets == ()
    assert task.bound_buckets == (BoundBucket("stage", "/scratch/files/stage", False, copied=True),)


def test_users_may_ask_googles_own_storage(tasks: Tasks, store: MemoryStore, job: Job) -> None:
    pool = replace(job.spec.primary, environment=(("STORAGE_EMULATOR_HOST", ""),))
    spec = replace(job.spec, pools=(pool,))
    store.update(replace(job, spec=spec, version=job.version + 1), ())

    variables = dict(tasks.task(Bearer(job.attempt_id, MASTER)).environment)
    assert variables["STORAGE_EMULATOR_HOST"] == ""


def test_no_job_dir_no_argument(tasks: Tasks, store: MemoryStore, job: Job) -> None:
    spec = replace(job.spec, job_dir=None)
    store.update(replace(job, spec=spec, version=job.version + 1), ())

    program = tasks.task(Bearer(job.attempt_id, MASTER)).program
    assert isinstance(program, PythonTask)
    assert program.args == ("--x", "a b")


def test_packages_come_by_number(tasks: Tasks, job: Job) -> None:
    with tasks.package(Bearer(job.attempt_id, MASTER), 0) as file:
        assert file.read() == b"bytes"
    with pytest.raises(NotFound, match="no package number 1"):
        tasks.package(Bearer(job.attempt_id, MASTER), 1)


def test_an_attempt_that_is_over_gets_nothing(tasks: Tasks, job: Job) -> None:
    with pytest.raises(PermissionDenied, match="is over"):
        tasks.task(Bearer(attempt_id(job.uid, 2), MASTER))
    with pytest.raises(NotFound, match="no replica"):
        tasks.task(Bearer(job.attempt_id, "worker-replica-9"))


@pytest.fixture
def gang(store: MemoryStore) -> Job:
    """A master and a worker, whose variable refers to one of the cluster."""
    spec = make_spec(workers=1, program=PythonProgram("version:/", (), "trainer.task"))
    master, worker = spec.pools
    worker = replace(worker, environment=(("INIT", "tcp://$(MASTER_ADDR):$(MASTER_PORT)"),))
    job = make_job("projects/demo/jobs/gang", spec=replace(spec, pools=(master, worker)))
    store.create(job, ())
    job = react(job, Admitted(job.create_time)).job
    store.update(job, ())
    return job


def is_ready(store: MemoryStore, job: Job, replica: str, port: int) -> Job:
    address = Address("127.0.0.1", port, (port + 1000,))
    job = react(job, ReplicaReady(CREATED, job.attempt, replica, address)).job
    store.update(job, ())
    return job


def test_a_gang_is_told_of_its_cluster_when_all_are_ready(
    tasks: Tasks, store: MemoryStore, gang: Job
) -> None:
    task = tasks.task(Bearer(gang.attempt_id, WORKER))
    assert task.gathering_s == 600.0
    unknown = {"TF_CONFIG", "RANK", "STORAGE_EMULATOR_HOST"}
    assert not unknown & dict(task.environment).keys()

    gang = is_ready(store, gang, WORKER, 5002)
    start = tasks.start(Bearer(gang.attempt_id, WORKER))
    assert (start.environment, start.awaited) == (None, (MASTER,))

    gang = is_ready(store, gang, MASTER, 5001)
    variables = dict(tasks.start(Bearer(gang.attempt_id, WORKER)).environment or ())
    cluster = {"master": ["127.0.0.1:5001"], "worker": ["127.0.0.1:5002"]}
    assert json.loads(variables["TF_CONFIG"])["cluster"] == cluster
    assert (variables["RANK"], variables["WORLD_SIZE"]) == ("1", "2")
    assert variables["INIT"] == "tcp://127.0.0.1:5001"
    assert variables["CLOUD_ML_JOB_ID"] == "gang"
    assert "STORAGE_EMULATOR_HOST" in variables


@pytest.mark.parametrize(
    "event",
    [
        ReplicaGone(CREATED, 1, WORKER, "the replica's supervisor was lost"),
        ReplicaExited(CREATED, 1, WORKER, Exit(ExitKind.UNPREPARED, 0, "no room")),
        ReplicaExited(CREATED, 1, WORKER, Exit(ExitKind.STOPPED, 0, "by hand")),
        CancelRequested(CREATED),
    ],
)
def test_nobody_starts_in_a_gang_that_is_over(
    tasks: Tasks, store: MemoryStore, gang: Job, event: Event
) -> None:
    """Though each replica has said where it is, as one of them did before it was lost."""
    gang = react(is_ready(store, gang, WORKER, 5002), event).job
    store.update(gang, ())
    is_ready(store, gang, MASTER, 5001)

    assert tasks.start(Bearer(gang.attempt_id, MASTER)).environment is None


def test_a_program_that_has_done_its_work_keeps_nobody_from_starting(
    tasks: Tasks, store: MemoryStore, gang: Job
) -> None:
    gang = is_ready(store, is_ready(store, gang, WORKER, 5002), MASTER, 5001)
    done = ReplicaExited(CREATED, 1, WORKER, Exit(ExitKind.EXITED, 0))
    store.update(react(gang, done).job, ())

    assert tasks.start(Bearer(gang.attempt_id, MASTER)).environment is not None


def test_a_replica_that_is_alone_waits_for_nobody(tasks: Tasks, job: Job) -> None:
    assert tasks.task(Bearer(job.attempt_id, MASTER)).gathering_s is None


def change(store: MemoryStore, job: Job, **fields: object) -> None:
    """Replace values of the only replica and its pool."""
    spec = replace(job.spec, pools=(replace(job.spec.primary, **fields),))  # type: ignore[arg-type]  # checked at run time
    store.update(replace(job, spec=spec, version=job.version + 1), ())


def test_a_replica_sees_its_gpus_alone(
    make_tasks: Callable[[Site], Tasks], store: MemoryStore, job: Job
) -> None:
    replicas = (replace(job.primary, devices=("1", "2")),)
    job = replace(job, replicas=replicas, version=job.version + 1)
    store.update(job, ())
    tasks = make_tasks(GPUS)

    task = tasks.task(Bearer(job.attempt_id, MASTER))
    assert dict(task.environment)["CUDA_VISIBLE_DEVICES"] == "1,2"
    assert task.gpus

    change(store, job, environment=(("CUDA_VISIBLE_DEVICES", "1,0,5"),))
    task = tasks.task(Bearer(job.attempt_id, MASTER))
    assert dict(task.environment)["CUDA_VISIBLE_DEVICES"] == "2,1"


def test_without_gpus_of_its_own_it_sees_none(
    make_tasks: Callable[[Site], Tasks], store: MemoryStore, job: Job
) -> None:
    change(store, job, environment=(("CUDA_VISIBLE_DEVICES", "0"),))
    task = make_tasks(GPUS).task(Bearer(job.attempt_id, MASTER))
    assert dict(task.environment)["CUDA_VISIBLE_DEVICES"] == ""
    assert not task.gpus

    task = make_tasks(SITE).task(Bearer(job.attempt_id, MASTER))
    assert dict(task.environment)["CUDA_VISIBLE_DEVICES"] == "0"
    assert not task.gpus


def test_simulated_gpus_are_seen_and_get_no_runtime_for_gpus(
    make_tasks: Callable[[Site], Tasks], store: MemoryStore, job: Job
) -> None:
    replicas = (replace(job.primary, devices=("0",)),)
    store.update(replace(job, replicas=replicas, version=job.version + 1), ())
    site = replace(SITE, gpus=(Gpu("0", "NVIDIA_L4", simulated=True),))

    task = make_tasks(site).task(Bearer(job.attempt_id, MASTER))
    assert dict(task.environment)["CUDA_VISIBLE_DEVICES"] == "0"
    assert not task.gpus


def test_a_tpu_job_runs_on_the_cpu_whatever_it_says(
    tasks: Tasks, store: MemoryStore, job: Job
) -> None:
    change(store, job, machine=MachineSpec("cloud_tpu"), environment=(("PJRT_DEVICE", "TPU"),))
    variables = dict(tasks.task(Bearer(job.attempt_id, MASTER)).environment)
    assert (variables["PJRT_DEVICE"], variables["JAX_PLATFORMS"]) == ("CPU", "cpu")


def test_limits_are_those_of_the_machine_type_where_they_are_enforced(
    make_tasks: Callable[[Site], Tasks], tasks: Tasks, job: Job
) -> None:
    assert tasks.task(Bearer(job.attempt_id, MASTER)).allotment is None
    enforcing = make_tasks(replace(SITE, mode=Mode.ENFORCE))
    allotment = enforcing.task(Bearer(job.attempt_id, MASTER)).allotment
    assert allotment == Allotment("n1-standard-4", 4, 15 << 10, 100)


@pytest.mark.parametrize(
    ("run_s", "left_s"),
    [(None, 604_800.0), (0.0, 604_800.0), (100.5, 604_699.5), (700_000.0, 1.0), (-5.0, 604_800.0)],
)
def test_another_attempt_has_what_is_left_of_the_running_time(
    tasks: Tasks,
    store: MemoryStore,
    clock: FakeClock,
    job: Job,
    run_s: float | None,
    left_s: float,
) -> None:
    started = None if run_s is None else clock.now()
    store.update(replace(job, start_time=started, version=job.version + 1), ())
    clock.advance(run_s or 0.0)
    assert tasks.task(Bearer(job.attempt_id, MASTER)).time_limit_s == left_s


def test_a_replica_that_comes_back_is_told_where_it_was(
    tasks: Tasks, store: MemoryStore, gang: Job, clock: FakeClock
) -> None:
    first = tasks.task(Bearer(gang.attempt_id, WORKER))
    is_ready(store, gang, WORKER, 4001)
    apply(store, gang.uid, ReplicaGone(clock.now(), 1, WORKER, "the replica's supervisor was lost"))
    again = tasks.task(Bearer(gang.attempt_id, WORKER, 1))

    assert (first.restart, first.address) == (0, None)
    assert again.restart == 1
    assert again.address is not None
    assert again.address.port == 4001


def reduce(store: MemoryStore, image: str) -> Job:
    """A primary with a package of its own, a worker and a reduction server."""
    package = ("gs://stage/pkg/trainer-0.1.tar.gz",)
    trainer = PythonProgram(image, package, "trainer.task")
    spec = make_spec(make_custom_name(), workers=1, program=trainer)
    server = program(IMAGE)
    reducers = replace(
        spec.pools[1], cluster_role="workerpool2", replica_prefix="workerpool2", program=server
    )
    spec = replace(spec, pools=(*spec.pools, reducers), directories=())
    job = make_job(make_custom_name(), spec=spec)
    store.create(job, ())
    job = react(job, Admitted(job.create_time)).job
    store.update(job, ())
    return job


@pytest.fixture
def reducing(store: MemoryStore) -> Job:
    return reduce(store, PYTORCH)


def test_workers_of_an_old_python_get_nothing_of_the_reduction_servers(
    tasks: Tasks, store: MemoryStore
) -> None:
    job = reduce(store, PYTORCH.replace("2-13.py311", "1-11.py37"))
    worker, reducer = (Bearer(job.attempt_id, name) for name in ("workerpool1-0", "workerpool2-0"))

    assert [package.file for package in tasks.task(worker).packages] == ["trainer-0.1.tar.gz"]
    with pytest.raises(NotFound):
        tasks.package(worker, 1)
    assert [package.file for package in tasks.task(reducer).packages] == [WHEEL.name]


def test_workers_and_reducers_get_the_package_that_they_meet_by(
    tasks: Tasks, reducing: Job
) -> None:
    worker, reducer = (
        tasks.task(Bearer(reducing.attempt_id, name)) for name in ("workerpool1-0", "workerpool2-0")
    )

    assert [package.file for package in worker.packages] == ["trainer-0.1.tar.gz", WHEEL.name]
    assert worker.packages[1].sha256 == WHEEL.sha256
    assert [package.file for package in reducer.packages] == [WHEEL.name]
    assert reducer.runtime is not None
    assert reducer.runtime.name == "Reduction Server"
    assert isinstance(reducer.program, PythonTask)
    assert (reducer.program.module, reducer.program.args) == ("footplate_reduction", ("reducer",))
    bearer = Bearer(reducing.attempt_id, "workerpool1-0")
    assert tasks.package(bearer, 1).read() == b"wheel"
    with pytest.raises(NotFound):
        tasks.package(bearer, 2)


def test_they_know_each_other_by_a_token_of_the_attempt(
    tasks: Tasks, store: MemoryStore, reducing: Job
) -> None:
    names = ("workerpool0-0", "workerpool1-0", "workerpool2-0")
    job = reducing
    for port, name in enumerate(names, 5000):
        job = is_ready(store, job, name, port)

    told = [dict(tasks.start(Bearer(job.attempt_id, name)).environment or ()) for name in names]

    (token,) = {each["FOOTPLATE_REDUCTION_TOKEN"] for each in told}
    assert token == KIT.token(job.attempt_id)
    assert token != KIT.token(attempt_id(job.uid, job.attempt + 1))
    assert {each["FOOTPLATE_REDUCTION_JOB"] for each in told} == {job.attempt_id}
    assert told[0]["FOOTPLATE_REDUCERS"] == told[1]["FOOTPLATE_REDUCERS"] == "127.0.0.1:5002"
    assert told[2]["FOOTPLATE_REDUCTION_PORT"] == "5002"
    assert [each.get("WORLD_SIZE") for each in told] == ["2", "2", None]
