"""Persistent resources over stores in memory: machines, jobs, deletion and reboot."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from footplate.control.admission import Admission
from footplate.control.job_queue import Queue
from footplate.control.persistent_resources import PersistentResources
from footplate.control.resource_checks import resource_violations, tensorboard_violations
from footplate.control.resource_steps import JOBS_END_S, ResourceSteps
from footplate.domain.errors import FailedPrecondition, NotFound, ResourceExhausted
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Job
from footplate.domain.names import CustomJobName, PersistentResourceName
from footplate.domain.persistent_resources import Change, PersistentResource, ResourceState
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.resources import VCPUS
from footplate.domain.sites import Mode
from footplate.domain.submission import Location, Submission
from footplate.store import ObservedStore
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.jobs import make_job, make_spec
from tests.support.persistent_resources import MemoryResources, make_resource
from tests.support.sites import make_engine_site, make_regions, make_site
from tests.support.store import MemoryStore

MACHINES = 8
"""Of n1-standard-4, which the site has room for."""


class Environments:
    """What was asked of the cache."""

    def __init__(self) -> None:
        self.released: list[str] = []
        self.removed: list[str] = []

    def release(self, uid: str) -> None:
        self.released.append(uid)

    def remove(self, uid: str) -> None:
        self.removed.append(uid)
        raise OSError("the disk is gone")


class Rig:
    def __init__(self, quotas: Quotas | None = None) -> None:
        self.clock = FakeClock()
        self.kept, self.resources = MemoryStore(), MemoryResources()
        site = make_site(Mode.ENFORCE, vcpus=4 * MACHINES, memory_gb=64 * MACHINES)
        self.regions, self.quotas = make_regions(site), quotas or Quotas()
        self.environments = Environments()
        self.count = 0
        self.restart()

    def restart(self) -> None:
        self.store = ObservedStore(
            self.kept, lambda *written: self.queue.changed(*written), lambda _: None
        )
        self.queue = Queue(
            self.store,
            self.regions,
            built_in(),
            3600.0,
            self.clock,
            lambda: self.quotas,
            resources=self.resources.all,
        )
        changed = self.queue.resources_changed
        self.steps = ResourceSteps(
            self.resources, self.store, self.environments, self.clock, lambda: None, changed
        )
        self.admission = Admission(
            self.store,
            self.queue,
            self.regions,
            built_in(),
            self.clock,
            self.steps.note_provisioned,
        )
        self.service = PersistentResources(
            self.resources,
            self.store,
            self.queue,
            self.regions.site,
            lambda: self.quotas,
            built_in(),
            self.clock,
            changed,
        )

    def admit(self) -> None:
        while self.admission.admit():
            pass

    def create(self, resource_id: str = "night", count: int = 2) -> PersistentResource:
        self.clock.advance(1.0)
        return self.service.create(make_resource(resource_id, count=count, at=self.clock.now()))

    def send(self, resource: str | None = None, workers: int = 0) -> Job:
        self.clock.advance(1.0)
        self.count += 1
        name = CustomJobName("demo", "us-central1", str(self.count))
        spec = replace(make_spec(name, workers=workers), persistent_resource=resource)
        job = make_job(name, uid=f"job{self.count}", created=self.clock.now(), spec=spec)
        self.store.create(job, ())
        return job

    def end(self, job: Job) -> None:
        now = self.store.get_by_uid(job.uid)
        ended = replace(
            now, state=State.SUCCEEDED, ending=Ending(State.SUCCEEDED), version=now.version + 1
        )
        self.store.update(ended, ())

    def state(self, job: Job) -> State:
        return self.kept.get_by_uid(job.uid).state

    def find(self, name: PersistentResourceName) -> PersistentResource:
        return self.resources.get(name)


def test_a_resource_waits_for_its_machines_and_its_jobs_wait_for_it() -> None:
    rig = Rig()
    other = rig.send(workers=MACHINES - 2)
    rig.admit()
    resource, mine = rig.create(), rig.send("night", workers=1)
    rig.admit()
    assert rig.find(resource.name).state is ResourceState.PROVISIONING
    assert rig.state(mine) is State.QUEUED
    waits = rig.service.explain(resource.name)
    assert waits is not None
    assert "1 holds 28" in waits.text
    rig.end(other)
    rig.admit()
    assert rig.find(resource.name).state is ResourceState.RUNNING
    assert rig.state(mine) is State.PREPARING
    assert rig.service.used(resource.name) == {"n1-standard-4": 2}
    assert rig.service.explain(resource.name) is None


def test_its_machines_stay_reserved_after_a_restart_and_count_in_the_quota() -> None:
    rig = Rig(Quotas((Quota("demo", "*", {VCPUS: 28}),)))
    rig.create(count=6)
    rig.admit()
    rig.restart()
    mine, other = rig.send("night", workers=1), rig.send(workers=1)
    rig.admit()
    assert rig.queue.held("demo", "us-central1") == {VCPUS: 24}
    assert rig.state(mine) is State.PREPARING
    waits = rig.queue.explain(rig.kept.get_by_uid(other.uid))
    assert waits is not None
    assert waits.text.startswith("Waits for the quota of project demo")
    with pytest.raises(ResourceExhausted, match="the persistent resource asks for 32 vCPUs"):
        rig.create("more", count=8)
    rig.quotas = Quotas()
    with pytest.raises(
        FailedPrecondition, match="can never get its machines here: the request asks for"
    ):
        rig.create("most", count=9)


def test_it_is_resized() -> None:
    rig = Rig()
    resource = rig.create()
    rig.admit()
    (pool,) = resource.pools

    def resize(count: int) -> ResourceState:
        pools = (replace(pool, replica_count=count),)
        rig.service.patch(resource.name, lambda _: Change(pools=pools, request="{}"))
        rig.admit()
        return rig.find(resource.name).state

    other = rig.send(workers=3)
    rig.admit()
    assert resize(4) is ResourceState.RUNNING
    assert resize(6) is ResourceState.UPDATING
    mine = rig.send("night", workers=4)
    rig.admit()
    waits = rig.queue.explain(rig.kept.get_by_uid(mine.uid))
    assert waits is not None
    assert "4 of 6 are free; its update holds 2" in waits.text
    rig.end(other)
    rig.admit()
    assert rig.find(resource.name).state is ResourceState.RUNNING
    assert rig.state(mine) is State.PREPARING


def test_a_deletion_cancels_its_jobs_and_waits_for_their_end() -> None:
    rig = Rig()
    resource = rig.create()
    rig.admit()
    runs, waits, other = rig.send("night", workers=1), rig.send("night"), rig.send()
    rig.admit()
    rig.service.delete(resource.name)
    assert rig.steps.step() == JOBS_END_S
    assert rig.kept.get_by_uid(runs.uid).ending is not None
    assert rig.state(waits) is State.CANCELLED
    assert rig.kept.get_by_uid(other.uid).ending is None
    rig.end(runs)
    assert rig.steps.step() is None
    assert rig.environments.released == [resource.uid]
    with pytest.raises(NotFound):
        rig.find(resource.name)
    big = rig.send(workers=MACHINES - 2)
    rig.admit()
    assert rig.state(big) is State.PREPARING, "its machines are free again"


def test_a_reboot_needs_a_resource_without_running_jobs() -> None:
    rig = Rig()
    resource = rig.create()
    rig.admit()
    runs = rig.send("night", workers=1)
    rig.admit()
    with pytest.raises(FailedPrecondition, match="night runs the jobs 1: wait for their end"):
        rig.service.reboot(resource.name)
    rig.end(runs)
    rig.service.reboot(resource.name)
    mine = rig.send("night")
    rig.admit()
    assert rig.state(mine) is State.QUEUED
    with pytest.raises(FailedPrecondition, match="is REBOOTING"):
        rig.service.delete(resource.name)
    assert rig.steps.step() is None
    assert rig.environments.removed == [resource.uid]
    rig.admit()
    assert rig.state(mine) is State.PREPARING


def test_a_job_names_one_that_exists() -> None:
    rig = Rig()

    def faults() -> list[str]:
        spec = make_spec(CustomJobName("demo", "us-central1", "1"))
        field = "jobSpec.workerPoolSpecs[0].containerSpec"
        pools = tuple(replace(pool, field=field) for pool in spec.pools)
        spec = replace(spec, persistent_resource="night", pools=pools)
        submission = Submission(Location("demo", "us-central1"), "d", spec, "{}")
        found = resource_violations(submission, rig.resources.find, built_in())
        return [f"{violation.field}: {violation.description}" for violation in found]

    (said,) = faults()
    assert said.startswith("jobSpec.persistentResourceId: 'night' given; project demo has no such")
    rig.create()
    assert faults() == []
    rig.service.delete(make_resource().name)
    (said,) = faults()
    assert "that is being deleted" in said


@pytest.mark.parametrize("seed", range(25))
def test_random_histories_never_share_a_machine(seed: int) -> None:
    """Machines are counted by hand after each step; at the end everything that fits has run."""
    rig, chance = Rig(), random.Random(seed)  # noqa: S311
    for _ in range(40):
        step(rig, chance)
        held_before = {job.uid for job in holding(rig)}
        rig.admit()
        check(rig, [job for job in holding(rig) if job.uid not in held_before])
        if chance.random() < 0.1:
            rig.restart()
    for resource in rig.resources.all():
        rig.service.delete(resource.name)
    for job in rig.kept.active():
        rig.end(job)
    rig.steps.step()
    assert rig.resources.all() == ()
    job = rig.send(workers=MACHINES - 1)
    rig.admit()
    assert rig.state(job) is State.PREPARING


def step(rig: Rig, chance: random.Random) -> None:
    match chance.randrange(6):
        case 0 if len(rig.resources.all()) < 3:
            rig.create(f"r{chance.getrandbits(40)}", chance.randint(1, 4))
        case 1 if found := rig.resources.all():
            resource = chance.choice(found)
            if resource.state in (ResourceState.RUNNING, ResourceState.UPDATING):
                (pool,) = resource.pools
                pools = (replace(pool, replica_count=chance.randint(1, 4)),)
                rig.service.patch(resource.name, lambda _: Change(pools=pools, request="{}"))
        case 2 if found := rig.resources.all():
            rig.service.delete(chance.choice(found).name)
            rig.steps.step()
        case 3 | 4:
            live = [r.id for r in rig.resources.all() if r.state is not ResourceState.STOPPING]
            on = chance.choice([None, *live])
            rig.send(on, workers=chance.randrange(3))
        case _:
            if held := holding(rig):
                rig.end(chance.choice(held))
                rig.steps.step()


def holding(rig: Rig) -> list[Job]:
    return [job for job in rig.kept.active() if job.state is not State.QUEUED]


def check(rig: Rig, started: list[Job]) -> None:
    """A resource that shrank may have more in use than it has; but then nothing starts on it."""
    reserved = sum(pool.replica_count for r in rig.resources.all() for pool in r.provisioned)
    free = [job for job in holding(rig) if job.spec.persistent_resource is None]
    assert reserved + sum(map(machines, free)) <= MACHINES
    for job in started:
        if job.spec.persistent_resource is not None:
            own = [
                j
                for j in holding(rig)
                if j.spec.persistent_resource == job.spec.persistent_resource
            ]
            resource = rig.find(make_resource(job.spec.persistent_resource).name)
            (pool,) = resource.provisioned
            assert sum(map(machines, own)) <= pool.replica_count


def machines(job: Job) -> int:
    return sum(pool.replica_count for pool in job.spec.pools)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("projects/demo/locations/us-central1/tensorboards/1", []),
        (
            "projects/demo/locations/us-central1/tensorboards/2",
            ["jobSpec.tensorboard: 'projects/demo/locations/us-central1/tensorboards/2' given"],
        ),
    ],
)
def test_a_job_names_a_tensorboard_that_exists(given: str, said: list[str]) -> None:
    spec = make_spec(CustomJobName("demo", "us-central1", "1"))
    pools = tuple(replace(p, field="jobSpec.workerPoolSpecs[0].containerSpec") for p in spec.pools)
    spec = replace(spec, tensorboard=given, pools=pools)
    submission = Submission(Location("demo", "us-central1"), "d", spec, "{}")
    found = tensorboard_violations(submission, lambda name: name.id == "1")
    texts = [f"{violation.field}: {violation.description}" for violation in found]
    assert [text.partition(",")[0] for text in texts] == said


def test_machines_of_an_engine_can_not_be_reserved() -> None:
    rig = Rig()
    rig.regions = make_regions(make_engine_site())
    rig.restart()

    with pytest.raises(FailedPrecondition, match="us-central1 runs on Slurm, which gives"):
        rig.create()
    assert rig.resources.all() == ()
