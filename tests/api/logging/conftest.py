"""Log routes behind a real HTTP server, with the jobs' own routes beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from footplate.api.app import create_app
from footplate.api.logging_v2 import (
    EndOfStream,
    EntryWriting,
    Followers,
    JobFinder,
    logging_routes,
)
from footplate.api.program_calls import ProgramCallCheck
from footplate.api.security import Access
from footplate.api.storage_v1 import program_routes
from footplate.api.training_v1 import training_routes
from footplate.api.vertex_v1 import vertex_routes
from footplate.catalogue import load_catalogue
from footplate.control.job_lists import JobLists
from footplate.control.program_storage import PATH as PROGRAMS
from footplate.control.program_storage import ProgramStorage
from footplate.control.tokens import Bearer
from footplate.control.written_entries import WrittenEntries
from footplate.domain.errors import PermissionDenied
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Ending, Job, Replica
from footplate.domain.log_lines import Line
from footplate.domain.names import CustomJobName, JobName, TrainingJobName, trial_run_name
from footplate.domain.submission import Location, Submission
from footplate.logs.files import FileLogs
from footplate.ports.logs import Logs
from footplate.wire.log_severity import read_line
from footplate.wire.logging_v2.scope import Span
from tests.support.http_server import serve
from tests.support.jobs import make_job, make_search, make_spec
from tests.support.jobs_service import MemoryJobs

LOCATIONS = ("europe-west4", "us-central1")
TRAINING = TrainingJobName("demo", "job_1")


@dataclass
class World:
    """Jobs that the test runs by hand."""

    jobs: MemoryJobs
    logs: Logs
    sequence: int = 0
    programs: set[str] = field(default_factory=set)
    """Jobs whose program makes all calls, by its connection; empty: a user does."""
    may_call: bool = True
    """Whether that program may call the API."""

    def submit(self, name: TrainingJobName | Location = TRAINING) -> Job:
        training = isinstance(name, TrainingJobName)
        spec = make_spec(name if isinstance(name, TrainingJobName) else None)
        if not training:
            spec = make_spec(CustomJobName("demo", "us-central1", "1"))
        job = self.jobs.submit(Submission(name, "a job", spec, "{}"))
        return self.jobs.run(job.name)

    def start(self, name: TrainingJobName = TRAINING) -> Job:
        """A job whose replicas run, of which there are two."""
        spec = make_spec(name, workers=1)
        replicas = tuple(Replica(each, Phase.RUNNING) for each in spec.replica_names())
        job = make_job(name, spec=spec, state=State.RUNNING)
        return self.jobs.add(replace(job, attempt=1, replicas=replicas))

    @property
    def storage(self) -> ProgramStorage:
        return ProgramStorage(self.jobs.store, b"s" * 32, "http://127.0.0.1:8470")

    def bearer(self, job: Job, replica: int = 0) -> Bearer:
        return Bearer(job.attempt_id, job.replicas[replica].name)

    def key(self, job: Job, replica: int = 0) -> str:
        """That of the program of a job's replica."""
        return self.storage.path(self.bearer(job, replica)).rpartition("/")[2]

    def check_caller(self, _client: object, _server: object) -> str:
        """As ``ProgramCalls.check``."""
        if self.programs and not self.may_call:
            raise PermissionDenied("the program may not call this API")
        return next(iter(self.programs), "")

    def tune(self, name: JobName = TRAINING, trials: int = 2) -> tuple[Job, list[Job]]:
        """A tuning job, and the runs of so many of its trials, from the first one on."""
        spec = replace(make_spec(name), search=make_search())
        job = self.jobs.add(make_job(name, spec=spec, state=State.RUNNING))
        return job, [self.start_trial(job, number) for number in range(1, trials + 1)]

    def start_trial(self, job: Job, number: int) -> Job:
        spec = replace(job.spec, search=None, trial=str(number))
        run = make_job(trial_run_name(job.name, number), spec=spec, state=State.RUNNING)
        return self.jobs.add(replace(run, tuning_job=job.uid))

    def print(self, job: Job, *texts: str, replica: str = "", stream: str = "stdout") -> None:
        """Let a replica (the first) print."""
        lines = []
        for text in texts:
            self.sequence += 1
            read = read_line(stream, text)
            printed = datetime.now(UTC)
            lines.append(Line(self.sequence, printed, read.severity, read.message, read.payload))
        replica = replica or job.spec.replica_names()[0]
        self.logs.append(job.log, 1, replica, lines, job.spec.trial or "")

    def find_jobs(self, project: str, _times: Span, limit: int) -> tuple[Job, ...]:
        return JobLists(self.jobs.store).between(project, None, None, limit)

    def end(self, name: JobName) -> None:
        job = self.jobs.end(name, Ending(State.SUCCEEDED))
        self.logs.wake(job.uid)


def build(world: World, token: str | None = None) -> Starlette:
    followers = Followers()
    jobs = world.jobs
    finder = JobFinder(jobs.get, LOCATIONS)
    written = WrittenEntries(jobs.store, world.logs, world.storage.bearer)
    writing = EntryWriting(written, finder, jobs.get, lambda: datetime.now(UTC))
    routes = [
        *logging_routes(world.logs, jobs.get, finder, followers, world.find_jobs),
        *writing.routes(),
        program_routes(
            PROGRAMS, lambda key: world.storage.check(key).uid, lambda _: writing.routes()
        ),
        *training_routes(jobs, load_catalogue(), jobs.kept_trials),
        *vertex_routes(jobs, jobs.clock, load_catalogue(), jobs.kept_trials),
    ]
    access = Access(token, check_key=world.storage.check)
    known = Middleware(ProgramCallCheck, access=access, check=world.check_caller)
    app = create_app(routes, access, inner=[known])
    app.user_middleware.append(Middleware(EndOfStream, followers=followers))
    return app


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    logs = FileLogs(tmp_path / "logs", lambda: datetime.now(UTC))
    yield World(MemoryJobs(), logs)
    logs.close()


@pytest.fixture
def url(world: World) -> Iterator[str]:
    with serve(build(world)) as url:
        yield url


@pytest.fixture
def http(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client
