"""What becomes of allocations whose files are written while somebody looks at them."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.backends.engine.allocations import Allocations
from footplate.backends.engine.attempt import make_ticket
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.engine import EngineJob, JobPhase, JobRequest, NodeState
from footplate.backends.engine.lost_nodes import LostNodeLimits
from footplate.domain.names import AttemptId
from footplate.ports.backend import Ticket
from footplate.ports.engines import EngineReport

ATTEMPT, REPLICA = AttemptId("u-1"), "master-replica-0"


class RecordingEngine:
    """Takes all jobs, and forgets them at once; ``jobs`` are those that it has."""

    title = "Slurm"
    oddities: tuple[str, ...] = ()
    rank_variable = job_variable = node_variable = ""

    def __init__(self) -> None:
        self.submitted: list[str] = []
        self.projects: list[str] = []
        self.cancelled: list[str] = []
        self.jobs: tuple[EngineJob, ...] = ()

    def fault(self, launchers: object) -> str | None:
        raise NotImplementedError

    def submit(self, request: JobRequest) -> str:
        self.submitted.append(request.name)
        self.projects.append(request.project)
        return str(len(self.submitted))

    def cancel(self, job_id: str) -> None:
        self.cancelled.append(job_id)

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        return self.jobs

    def find(self, job_id: str) -> EngineJob | None:
        return None

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        raise NotImplementedError

    def may_be_of(self, job_id: str, project: str) -> bool:
        return True

    def explain(self, job: EngineJob) -> EngineJob:
        raise NotImplementedError

    def run_on_node(self, program: bytes, launcher: object) -> str:
        raise NotImplementedError

    def node_states(self, names: object) -> tuple[NodeState, ...]:
        return ()

    def check(self) -> EngineReport:
        raise NotImplementedError


class Desk:
    def __init__(self, folder: Path) -> None:
        self.files, self.engine = AttemptFiles(folder), RecordingEngine()
        self.files.open()
        self.files.make(ATTEMPT, "europe-west4", [self.ticket(0, 0)], project="my-project")
        self.allocations = Allocations(
            self.engine, self.files, "ours-", lambda *_: b"", LostNodeLimits(60.0), lambda: 0.0
        )
        self.advance()
        self.end()

    def ticket(self, restart: int, allocation: int, *, in_place: bool = False) -> dict[str, object]:
        return make_ticket(Ticket(REPLICA, "token", restart), allocation, {}, in_place=in_place)

    def advance(self) -> None:
        self.allocations.ask()
        self.allocations.advance_all((ATTEMPT,), asked=True)

    def end(self) -> None:
        """Nothing is left of the first start, nor of its allocation."""
        attempt = self.files.load(ATTEMPT)
        assert attempt is not None
        self.files.set_gone(ATTEMPT, attempt.replicas[REPLICA], "it ended")
        self.files.end(ATTEMPT, 0, "it ended")

    def ended(self, number: int) -> str | None:
        attempt = self.files.load(ATTEMPT)
        assert attempt is not None
        return attempt.allocations[number].ended


@pytest.fixture
def context(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "replicas")


def test_an_allocation_is_seen_before_its_tickets_are_written(context: Desk) -> None:
    context.files.add_allocation(ATTEMPT, 1, [REPLICA])
    context.advance()
    assert context.ended(1) is None
    context.files.add_ticket(ATTEMPT, context.ticket(1, 1))
    context.advance()
    assert context.engine.submitted == ["ours-u-1.0", "ours-u-1.1"]
    assert context.engine.projects == ["my-project", "my-project"]


def test_an_allocation_whose_tickets_never_came_ends_when_there_is_another(context: Desk) -> None:
    """Its server died while it wrote them, and the next one made the restart again."""
    context.files.add_allocation(ATTEMPT, 1, [REPLICA])
    context.files.add_allocation(ATTEMPT, 2, [REPLICA])
    context.files.add_ticket(ATTEMPT, context.ticket(1, 2))
    context.advance()
    assert context.ended(1) == "the server ended before it submitted the job"
    assert context.engine.submitted == ["ours-u-1.0", "ours-u-1.2"]


def test_what_is_stopped_before_its_job_was_submitted_needs_none(context: Desk) -> None:
    context.files.add_allocation(ATTEMPT, 1, [REPLICA])
    context.files.add_ticket(ATTEMPT, context.ticket(1, 1))
    attempt = context.files.load(ATTEMPT)
    assert attempt is not None
    context.files.stop(ATTEMPT, attempt.replicas[REPLICA])
    context.advance()
    assert context.ended(1) == "the server ended before it submitted the job"
    assert context.engine.submitted == ["ours-u-1.0"]


def test_a_start_that_comes_to_an_allocation_as_that_ends_moves_to_another(context: Desk) -> None:
    """Who wrote it didn't know of the end yet."""
    context.files.add_ticket(ATTEMPT, context.ticket(1, 0, in_place=True))
    context.advance()
    context.advance()
    assert context.engine.submitted == ["ours-u-1.0", "ours-u-1.1"]


def test_of_two_jobs_of_one_allocation_the_other_is_cancelled(context: Desk) -> None:
    """A server submitted it that didn't know of the first."""
    context.files.add_allocation(ATTEMPT, 1, [REPLICA])
    context.files.add_ticket(ATTEMPT, context.ticket(1, 1))
    context.advance()
    context.engine.jobs = tuple(
        EngineJob(number, "ours-u-1.1", JobPhase.RUNNING) for number in ("3", "2")
    )
    context.advance()
    assert context.engine.cancelled == ["3"]
