"""What the supervisor of a container is to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.current_attempts import current
from footplate.control.images import Images
from footplate.control.reduction_setup import ReductionKit
from footplate.control.replica_tasks import Limits, Tasks
from footplate.control.tokens import Bearer
from footplate.control.wheels import Wheel
from footplate.domain.errors import InvalidArgument, NotFound, PermissionDenied, Unavailable
from footplate.domain.jobs import ContainerProgram, Directory, Job, JobEvent, MachineSpec
from footplate.domain.lifecycle import Admitted, react
from footplate.domain.names import CustomJobName
from footplate.domain.sites import Gpu, Mode, Site
from footplate.protocol.task import ContainerTask
from tests.support.clock import FakeClock
from tests.support.container_engine import SOCKET, FakeContainerEngine
from tests.support.jobs import CREATED, make_job, make_spec
from tests.support.sites import make_engine_site
from tests.support.store import MemoryStore

IMAGE = "gcr.io/p/trainer:1"
DIGEST = f"gcr.io/p/trainer@sha256:{'0' * 64}"
NAME = CustomJobName("demo", "us-central1", "1")
CHIEF = "workerpool0-0"
OTHER = (("written", "meanwhile"),)
GPUS = (Gpu("0", "NVIDIA_L4"), Gpu("1", "NVIDIA_L4"))
SITE = Site("this machine", Mode.EMULATE, 4, 8, 32 << 10, gpus=GPUS)


class Rig:
    def __init__(self, folder: Path) -> None:
        self.store = MemoryStore()
        self.images = Images(self.store)
        self.engine = FakeContainerEngine()
        self.site = SITE
        clock = FakeClock(CREATED)
        buckets = FolderBuckets(folder, clock)
        buckets.create_bucket("stage")
        self.tasks = Tasks(
            self.store,
            buckets,
            load_catalogue(),
            lambda _: self.site,
            clock,
            Limits(1.0, 2.0, 600.0),
            lambda: 2222,
            ReductionKit(b"key", None),
            Wheel("algorithms.whl", b""),
            self.images,
            self.engine,
            image_pull="always",
        )

    def start(self, program: ContainerProgram, *, workers: int = 0, devices: str = "") -> Bearer:
        machine = MachineSpec("g2-standard-4", "NVIDIA_L4", 1) if devices else None
        spec = make_spec(NAME, workers=workers, program=program)
        pools = tuple(
            replace(
                pool,
                environment=(("WHERE", "$(AIP_MODEL_DIR)"), ("CUDA_VISIBLE_DEVICES", "0")),
                machine=machine or pool.machine,
            )
            for pool in spec.pools
        )
        directory = Directory("AIP_MODEL_DIR", "gs://stage/out/model/")
        job = make_job(NAME, spec=replace(spec, pools=pools, directories=(directory,)))
        self.store.create(job, ())
        job = react(job, Admitted(job.create_time)).job
        if devices:
            replicas = tuple(replace(each, devices=(devices,)) for each in job.replicas)
            job = replace(job, replicas=replicas)
        self.store.update(job, ())
        return Bearer(job.attempt_id, CHIEF)

    def job(self, bearer: Bearer) -> Job:
        return next(job for job in self.store.active() if job.attempt_id == bearer.attempt_id)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "buckets")


def test_a_container_is_told_of_its_engine_and_its_directories(rig: Rig, tmp_path: Path) -> None:
    bearer = rig.start(ContainerProgram(IMAGE, ("run", "$(WHERE)"), ("$$(WHERE)", "$(NOBODY)")))
    task = rig.tasks.task(bearer)
    assert task.program == ContainerTask(
        IMAGE, ("run", "gs://stage/out/model/"), ("$(WHERE)", "$(NOBODY)"), SOCKET, "", "always"
    )
    assert dict(task.environment)["AIP_MODEL_DIR"] == "gs://stage/out/model/"
    assert task.directories == (f"{tmp_path}/buckets/stage/out/model/",)
    assert (task.runtime, task.packages) == (None, ())
    encoded = task.encode()
    assert encoded["runtime"] is None
    assert encoded["preparation"] == ""


def test_what_the_image_says_stays(rig: Rig) -> None:
    task = rig.tasks.task(rig.start(ContainerProgram(IMAGE)))
    assert isinstance(task.program, ContainerTask)
    assert (task.program.command, task.program.args) == (None, None)


def test_a_gang_hears_its_arguments_when_its_cluster_is_known(rig: Rig) -> None:
    bearer = rig.start(ContainerProgram(IMAGE, None, ("--rank=$(RANK)",)), workers=1)
    task = rig.tasks.task(bearer)
    assert isinstance(task.program, ContainerTask)
    assert task.program.args == ("--rank=$(RANK)",)
    assert rig.tasks.start(bearer).program is None


def test_a_container_gets_its_gpus_and_numbers_them_from_0(rig: Rig) -> None:
    task = rig.tasks.task(rig.start(ContainerProgram(IMAGE), devices="1"))
    assert task.devices == ("1",)
    assert "CUDA_VISIBLE_DEVICES" not in dict(task.environment)


def test_an_engine_that_is_away_is_waited_for_by_the_supervisor(rig: Rig) -> None:
    bearer = rig.start(ContainerProgram(IMAGE))
    rig.engine.fault = "no engine"
    task = rig.tasks.task(bearer)
    assert isinstance(task.program, ContainerTask)
    assert task.program.engine == SOCKET
    rig.engine.expected = ""
    with pytest.raises(Unavailable, match="no engine"):
        rig.tasks.task(bearer)


def test_on_a_node_its_own_engine_counts(rig: Rig) -> None:
    rig.site = make_engine_site()
    rig.engine.fault = "no engine"
    task = rig.tasks.task(rig.start(ContainerProgram(IMAGE)))
    assert isinstance(task.program, ContainerTask)
    assert task.program.engine == ""


def test_the_first_replica_says_which_image_all_run(rig: Rig) -> None:
    bearer = rig.start(ContainerProgram(IMAGE))
    assert rig.images.pin(bearer, IMAGE, DIGEST) == (DIGEST, True)
    assert rig.images.pin(bearer, IMAGE, "sha256:0123") == (DIGEST, False)
    task = rig.tasks.task(bearer)
    assert isinstance(task.program, ContainerTask)
    assert task.program.pinned == DIGEST
    assert rig.job(bearer).images == ((IMAGE, DIGEST),)


@pytest.mark.parametrize(
    ("name", "reference"), [("other:1", DIGEST), (IMAGE, "a b"), (IMAGE, ""), (IMAGE, "../x?y")]
)
def test_nobody_names_another_image(rig: Rig, name: str, reference: str) -> None:
    bearer = rig.start(ContainerProgram(IMAGE))
    with pytest.raises((InvalidArgument, NotFound)):
        rig.images.pin(bearer, name, reference)
    assert rig.job(bearer).images == ()


def test_a_write_in_between_is_no_failure(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    bearer = rig.start(ContainerProgram(IMAGE))
    update, interferences = rig.store.update, [DIGEST]

    def interfere(job: Job, history: Sequence[JobEvent]) -> None:
        if interferences:
            interferences.pop()
            update(replace(job, images=(), labels=OTHER), history)
        update(job, history)

    monkeypatch.setattr(rig.store, "update", interfere)
    assert rig.images.pin(bearer, IMAGE, DIGEST) == (DIGEST, True)
    assert interferences == []
    written = rig.store.get_by_uid(current(rig.store, bearer).uid)
    assert dict(written.images) == {IMAGE: DIGEST}
    assert written.labels == OTHER


def test_an_attempt_that_is_over_pins_nothing(rig: Rig) -> None:
    bearer = rig.start(ContainerProgram(IMAGE))
    with pytest.raises(PermissionDenied):
        rig.images.pin(replace(bearer, restart=1), IMAGE, DIGEST)


def test_trials_run_the_image_of_their_tuning_job(rig: Rig) -> None:
    first = rig.start(ContainerProgram(IMAGE))
    search = rig.job(first)
    rig.images.pin(first, IMAGE, DIGEST)
    run = make_job(CustomJobName("demo", "us-central1", "2"), spec=search.spec)
    run = react(replace(run, tuning_job=search.uid), Admitted(run.create_time)).job
    rig.store.create(replace(run, version=1), ())
    bearer = Bearer(run.attempt_id, CHIEF)
    task = rig.tasks.task(bearer)
    assert isinstance(task.program, ContainerTask)
    assert task.program.pinned == DIGEST
    assert rig.images.pin(bearer, IMAGE, "sha256:0123") == (DIGEST, False)
