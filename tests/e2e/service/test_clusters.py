"""Jobs of several replicas: they find each other, start together, and end together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Job, Replica
from footplate.domain.names import CustomJobName, GcsUri, JobName, TrainingJobName
from footplate.store import open_store
from footplate.testing.faults import FaultInjector
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, REGION, Context
from tests.support.supervisor_process import find_living
from tests.support.trainers import SETUP, pack_trainer

TRAINER = """
import json, os, pathlib, socket, sys, time

def greet(host, port, words):
    end = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection((host, int(port))) as peer:
                peer.sendall(words)
            return
        except ConnectionRefusedError:  # it has not come so far
            assert time.monotonic() < end, (host, port)
            time.sleep(0.02)

described = json.loads(os.environ.get("CLUSTER_SPEC") or os.environ["TF_CONFIG"])
task = described["task"]
me = "%s-%d" % (task["type"], task["index"])
places = {
    "%s-%d" % (role, index): place.split(":")
    for role, members in described["cluster"].items()
    for index, place in enumerate(members)
}
end = pathlib.Path(sys.argv[1])
start = os.environ["FOOTPLATE_ATTEMPT"], os.environ["FOOTPLATE_RESTART"]
if start[1] != "0" and end.with_name("met").exists():
    print(me, "is back at", ":".join(places[me]), "as", *start, flush=True)
    while not end.exists():
        time.sleep(0.05)
    sys.exit()
with socket.socket() as server:
    server.bind(("", int(places[me][1])))
    server.listen(64)
    for name, (host, port) in places.items():
        if name != me:
            greet(host, port, me.encode())
    met = sorted(server.accept()[0].makefile().read() for _ in range(len(places) - 1))
print(me, "met", *met, flush=True)
while task["type"] == "ps" or not end.exists():
    time.sleep(0.05)
"""
SLOW = """\
import pathlib, time
while not pathlib.Path({gate!r}).exists():
    time.sleep(0.02)
"""
CLUSTER = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "workerType": "n1-standard-4",
    "workerCount": "2",
    "parameterServerType": "n1-standard-4",
    "parameterServerCount": "1",
}
MEMBERS = ("chief-0", "ps-0", "worker-0", "worker-1")
LATE = "worker-replica-1"
EXECUTOR = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"


def greetings(*members: str) -> list[str]:
    """What the replicas of a whole cluster print."""
    return [f"{one} met {' '.join(o for o in members if o != one)}" for one in members]


class Gang:
    """A job whose replicas prepare until ``build``, and whose programs run until ``finish``."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._submission_checks, self._end = context.bucket / "gate", context.bucket / "end"
        self.name: TrainingJobName = context.submit(
            TRAINER,
            str(self._end),
            setup=SLOW.format(gate=str(self._submission_checks)) + SETUP.format(requires=[]),
            **CLUSTER,
        )
        context.until(lambda: len(self.supervisors()) == len(MEMBERS))

    def build(self) -> None:
        self._submission_checks.touch()

    def meet(self) -> None:
        """All do, and from now on none waits for the others when it comes back."""
        self.build()
        self.context.until(self.all_met)
        self._end.with_name("met").touch()

    def finish(self) -> None:
        self._end.touch()

    def supervisors(self, attempt: int = 1) -> dict[str, int]:
        """The process of each replica's supervisor."""
        found = self.context.service.data_dir.glob(f"replicas/*-{attempt}/*/pid")
        pids = {path.parent.name: path.read_text() for path in sorted(found)}
        return {name.partition("~")[0]: int(pid) for name, pid in pids.items() if pid}

    def record(self) -> Job:
        """As the server keeps it."""
        url = f"sqlite:///{self.context.service.data_dir / 'footplate.db'}"
        with closing(open_store(url)) as store:
            return store.get(self.name)

    def find(self, replica: str) -> Replica:
        return next(each for each in self.record().replicas if each.name == replica)

    def ready(self) -> set[str]:
        return {r.name for r in self.record().replicas if r.phase is Phase.READY}

    @contextmanager
    def all_ready_but(self, late: str) -> Iterator[None]:
        """In the block the supervisor of one replica stands still, and all others are ready.

        Unless it is told to end there, which lets it go on.
        """
        others = self.supervisors().keys() - {late}
        with FaultInjector(self.context.service) as faults:
            faults.freeze_machine(late, job=str(self.name)).wait()
            self.build()
            self.context.until(lambda: self.ready() == others or self.record().ending is not None)
            yield

    def lose(self, replica: str) -> None:
        """Its supervisor and its program, as when its machine is lost."""
        with FaultInjector(self.context.service) as faults:
            faults.stop_machine(replica, job=str(self.name)).wait()

    def printed(self, attempt: int = 1) -> list[str]:
        lines = self.context.lines(self.name)
        return sorted(each.message for each in lines if each.attempt == attempt)

    def all_met(self, attempt: int = 1) -> bool:
        return len(self.printed(attempt)) == len(MEMBERS)

    def wait_for_line(self, line: str) -> None:
        self.context.until(lambda: line in self.printed())

    def living(self) -> list[int]:
        return find_living(str(self._end))


def kinds(context: Context, name: JobName) -> list[str]:
    with context.client() as client:
        return [event.kind for event in client.events(name)]


def check(gang: Gang, attempt: int = 1) -> None:
    """All have met once, the job succeeds, and nothing of it is left."""
    gang.context.until(lambda: gang.all_met(attempt))
    gang.finish()
    gang.context.wait_for(gang.name, State.SUCCEEDED)
    assert gang.printed(attempt) == greetings(*MEMBERS)
    assert gang.living() == []


def test_no_program_starts_before_the_last_replica_is_ready(shared: Context) -> None:
    """And the job ends with its primary, though a parameter server joins for ever."""
    gang = Gang(shared)
    with gang.all_ready_but(LATE):
        assert gang.printed() == []
        assert gang.living() == []
        places = [str(r.address) for r in gang.record().replicas if r.address is not None]
        assert len(set(places)) == len(MEMBERS) - 1
        assert shared.job(gang.name).state is State.PREPARING
    check(gang)
    assert kinds(shared, gang.name).count("RUNNING") == 1


def test_a_server_that_dies_while_they_gather(context: Context) -> None:
    gang = Gang(context)
    with gang.all_ready_but(LATE):
        context.service.kill()
    context.service.start()
    check(gang)
    assert "RETRY" not in kinds(context, gang.name)


def test_a_machine_that_is_lost_while_they_gather(shared: Context) -> None:
    gang = Gang(shared)
    with gang.all_ready_but(LATE):
        gang.lose("ps-replica-0")
    check(gang)
    told = kinds(shared, gang.name)
    assert (told.count("RESTART"), told.count("RETRY")) == (1, 0)


def test_a_lost_replica_comes_back_to_its_address(shared: Context) -> None:
    """Beside the others, which go on; its lines are kept apart from those before."""
    gang = Gang(shared)
    gang.meet()
    place = gang.find("worker-replica-0").address
    for restart in (1, 2):
        gang.lose("worker-replica-0")
        gang.wait_for_line(f"worker-0 is back at {place} as 1 {restart}")
    gang.finish()
    shared.wait_for(gang.name, State.SUCCEEDED)

    mine = [line for line in shared.lines(gang.name) if line.replica == "worker-replica-0"]
    assert [(line.attempt, line.restart) for line in mine] == [(1, 0), (1, 1), (1, 2)]
    told = kinds(shared, gang.name)
    assert (told.count("RESTART"), told.count("RUNNING"), told.count("RETRY")) == (2, 1, 0)
    assert gang.living() == []


def test_a_server_that_dies_while_a_replica_comes_back(context: Context) -> None:
    gang = Gang(context)
    gang.meet()
    context.service.kill()
    gang.lose("ps-replica-0")
    context.service.start()
    context.until(lambda: gang.find("ps-replica-0").restart == 1)
    context.service.kill()
    context.service.start()
    place = gang.find("ps-replica-0").address
    gang.wait_for_line(f"ps-0 is back at {place} as 1 1")
    gang.finish()
    context.wait_for(gang.name, State.SUCCEEDED)
    assert gang.living() == []


def test_cancel_while_they_gather(shared: Context) -> None:
    gang = Gang(shared)
    with gang.all_ready_but(LATE), shared.client() as client:
        client.cancel(gang.name)
    assert shared.wait_for(gang.name).state is State.CANCELLED
    assert gang.printed() == []
    assert gang.living() == []


def test_who_does_not_get_ready_in_time_is_named(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1, gathering_s=2) as service:
        gang = Gang(Context(service))
        with gang.all_ready_but(LATE):
            gang.context.until(lambda: gang.record().ending is not None)
        job = gang.context.wait_for(gang.name, State.FAILED)
        # On a busy machine others may be late, too.
        assert re.search(rf"waited 2 s for .*{LATE}.* to be ready$", job.error_message)
        assert gang.printed() == []


def submit_pools(context: Context, *pools: tuple[int, str | None]) -> CustomJobName:
    """A custom job of pools with so many replicas, and a ``setup.py`` of their own."""
    specs: list[dict[str, Any]] = []
    with context.client() as client:
        for number, (count, setup) in enumerate(pools):
            package = GcsUri(context.bucket.name, f"pool{number}/trainer.tar.gz")
            client.storage.upload(package, pack_trainer(TRAINER, setup))
            program = {
                "executorImageUri": EXECUTOR,
                "packageUris": [str(package)],
                "pythonModule": "trainer.task",
                "args": [str(context.bucket / "end")],
            }
            machine = {"machineType": "n1-standard-4"}
            specs.append(
                {"machineSpec": machine, "replicaCount": count, "pythonPackageSpec": program}
            )
        job: Any = {"displayName": "cluster", "jobSpec": {"workerPoolSpecs": specs}}
        return client.custom_jobs.create(context.project, REGION, job).name


def test_pools_of_a_custom_job_meet(shared: Context) -> None:
    name = submit_pools(shared, (1, None), (2, None))
    shared.until(lambda: len(shared.lines(name)) == 3)
    (shared.bucket / "end").touch()

    shared.wait_for(name, State.SUCCEEDED)
    members = ("workerpool0-0", "workerpool1-0", "workerpool1-1")
    assert sorted(shared.messages(name)) == greetings(*members)


def test_a_replica_that_cannot_be_prepared_fails_the_job_and_names_itself(shared: Context) -> None:
    name = submit_pools(shared, (1, None), (1, "raise SystemExit('no such luck')"))

    job = shared.wait_for(name, State.FAILED)
    assert job.error_message.startswith("replica workerpool1-0 could not be prepared: ")
    assert "no such luck" in job.error_message
    assert shared.messages(name) == []
