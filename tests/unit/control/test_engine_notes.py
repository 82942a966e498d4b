"""Jobs in the queue of an engine: their reasons, and where the others run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from footplate.control.backend_observation import REPEAT_S
from footplate.control.regions import Binding, Regions
from footplate.domain.engine_events import RUNS, SUSPENDED, WAITS, engine_jobs, engine_wait
from footplate.domain.job_states import State
from footplate.domain.jobs import JobEvent, Scheduling
from footplate.domain.names import AttemptId
from footplate.domain.preparation_status import explain_preparing
from footplate.ports.backend import EndCause, Presence, ReplicaObservation
from tests.support.backend import FakeBackend
from tests.support.sites import make_engine_site, make_regions
from tests.unit.control.reconciler_rig import MASTER, WORKER, Rig

RESOURCES = "waits for free nodes (job 42 in Slurm: Resources)"
PRIORITY = "waits for jobs of a higher priority (job 42 in Slurm: Priority)"
FROZEN = "Slurm has suspended the job (job 42 in Slurm: SUSPENDED)"
FOREVER = Scheduling(max_running_time_s=1e6)


@dataclass
class FakeEngine(FakeBackend):
    """Says in which of its jobs each replica is."""

    nodes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    def inspect(self, attempt_id: AttemptId) -> tuple[ReplicaObservation, ...]:
        return tuple(self._told(each) for each in super().inspect(attempt_id))

    def list(self) -> tuple[ReplicaObservation, ...]:
        return tuple(self._told(each) for each in super().list())

    def suspend(self, attempt_id: AttemptId, reason: str) -> None:
        """What runs now stands still; without a reason it goes on."""
        self._turn(attempt_id, None, Presence.LIVE, reason, Presence.LIVE)

    def _told(self, seen: ReplicaObservation) -> ReplicaObservation:
        return replace(seen, engine_id="42", node=self.nodes.get(seen.replica, ""))


class EngineRig(Rig):
    def __init__(self, workers: int = 0) -> None:
        super().__init__(workers, starts=False, limits=FOREVER)
        region = self.job.spec.region
        self.engine = FakeEngine()
        bound = {region: Binding(self.engine, make_engine_site(), "slurm")}
        self.regions = Regions(make_regions().default, bound)
        self.restart()
        self.engine.watch(self._seen)
        self.reconcile()

    def told(self, kind: str) -> list[str]:
        return [event.message for event in self.events() if event.kind == kind]

    def events(self) -> list[JobEvent]:
        return [stored.event for stored in self.store.events(self.uid)]

    def wait(self, reason: str) -> None:
        self.engine.delay(self.job.attempt_id, reason)
        self.reconcile()

    def explained(self) -> str:
        return explain_preparing(self.job, self.events(), self.clock.now()).text


def test_a_job_goes_to_the_backend_of_its_region() -> None:
    rig = EngineRig()

    assert [request.region for request in rig.engine.requests] == [rig.job.spec.region]
    assert rig.backend.requests == []


def test_why_it_waits_is_told_in_the_engines_words() -> None:
    rig = EngineRig(workers=1)
    rig.wait(RESOURCES)

    assert engine_wait(rig.events(), 1) == RESOURCES
    assert rig.explained() == (
        f"Being prepared for 0 s: none of the 2 replicas has started; {RESOURCES}."
    )


def test_a_reason_is_written_once_and_again_after_a_while() -> None:
    rig = EngineRig()
    for reason in (RESOURCES, RESOURCES, PRIORITY, RESOURCES, PRIORITY):
        rig.wait(reason)
    rig.restart()
    rig.engine.watch(rig._seen)
    rig.reconcile()
    before = rig.told(WAITS)
    assert (before.count(RESOURCES), before.count(PRIORITY)) == (1, 1)

    rig.clock.advance(REPEAT_S)
    rig.wait(RESOURCES)

    assert rig.told(WAITS)[-1] == RESOURCES
    assert rig.explained().endswith(f": {RESOURCES}.")


def test_where_its_replicas_run_is_told() -> None:
    rig = EngineRig(workers=1)
    rig.wait(RESOURCES)
    rig.engine.nodes = {MASTER: "n1"}
    rig.engine.admit(rig.job.attempt_id)
    rig.reconcile()
    rig.reconcile()

    assert rig.told(RUNS) == [
        ("the replica runs in job 42 of Slurm on n1"),
        ("the replica runs in job 42 of Slurm"),
    ]
    assert engine_jobs(rig.events(), 1) == {
        MASTER: "the replica runs in job 42 of Slurm on n1",
        WORKER: "the replica runs in job 42 of Slurm",
    }
    assert engine_jobs(rig.events(), 2) == {}


@pytest.mark.parametrize("kind", [WAITS, RUNS])
def test_of_this_machine_nothing_is_noted(kind: str) -> None:
    rig = Rig()
    rig.reconcile()

    assert kind not in {stored.event.kind for stored in rig.store.events(rig.uid)}


def test_a_replica_that_is_suspended_says_so_until_it_is_resumed() -> None:
    rig = EngineRig()
    rig.engine.admit(rig.job.attempt_id)
    for suspension in ("", FROZEN, FROZEN, "", ""):
        rig.engine.suspend(rig.job.attempt_id, suspension)
        rig.reconcile()
        rig.clock.advance(REPEAT_S)

    assert rig.told(SUSPENDED) == [FROZEN, "the engine has resumed the replica's job"]


@pytest.mark.parametrize(
    ("cause", "state", "words"),
    [
        (EndCause.CANCELLED, State.CANCELLED, "in Slurm"),
        (EndCause.TIME_LIMIT, State.CANCELLED, "at the limit of its running time: in Slurm"),
        (EndCause.OUT_OF_MEMORY, State.FAILED, "was killed because memory ran out: in Slurm"),
    ],
)
def test_an_end_that_the_engine_names_ends_the_job(
    cause: EndCause, state: State, words: str
) -> None:
    rig = EngineRig()
    rig.engine.admit(rig.job.attempt_id)
    rig.reconcile()
    rig.engine.end(rig.job.attempt_id, reason="in Slurm", cause=cause)
    rig.reconcile()

    assert rig.job.state is state
    assert rig.job.ending is not None
    assert rig.job.ending.message.endswith(words)
    assert rig.told("RESTART") == []


def test_a_preempted_replica_starts_again_uncounted() -> None:
    rig = EngineRig()
    for restart in range(1, 8):
        rig.engine.admit(rig.job.attempt_id)
        rig.engine.end(rig.job.attempt_id, reason="in Slurm", cause=EndCause.PREEMPTED)
        rig.reconcile()
        [replica] = rig.job.replicas
        assert (replica.restart, replica.losses) == (restart, 0)
    assert rig.job.attempt == 1
