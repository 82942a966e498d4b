"""A whole service with real programs: what a test needs to send one and to follow it."""

from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from footplate.client.records import Job, LogLine
from footplate.client.service import Service
from footplate.domain.job_states import State
from footplate.domain.names import GcsUri, JobName, TrainingJobName
from footplate.testing.service import RunningService, running_service
from tests.e2e.service.tuning_helpers import leftovers
from tests.support.forked_process import run_footplate
from tests.support.supervisor_process import find_living
from tests.support.trainers import pack_trainer

SMALL_MACHINE = """
[machine_types.own-small]
family = "COMPUTE_ENGINE"
vcpus = 1
memory_gb = 0.5
"""
CACHE = Path(__file__).parents[3] / ".cache" / "footplate"
"""Shared by all tests: environments are built once."""
PROJECT, REGION, BUCKET = "demo", "us-central1", "stage"
SIGNS_OF_LIFE_S = 60.0
"""A stream of lines brings one more often than that, even when it has none."""


class Context:
    """A running service with a bucket, and one user at it, who has a project."""

    patience_s = 600.0
    """The first job in a cache installs its runtime, which takes minutes on a busy machine."""
    token: str | None = None
    project = PROJECT
    _kept: Service | None = None

    def __init__(
        self,
        service: RunningService,
        token: str | None = None,
        project: str = PROJECT,
        bucket: str = BUCKET,
    ) -> None:
        self.service = service
        self.token = token
        self.project = project
        self.sent = 0
        self.bucket = service.data_dir / "buckets" / bucket
        with self.client() as client:
            client.storage.create_bucket(project, bucket)

    @property
    def url(self) -> str:
        """Where the user's requests go."""
        return self.service.url

    @contextmanager
    def client(self) -> Iterator[Service]:
        """Of the server at ``url``; one for all calls, which keeps its connections."""
        if self._kept is None or self._kept.url != self.url:
            self._kept = Service(self.url, self.token)
            weakref.finalize(self, self._kept.close)
        yield self._kept

    def run_cli(self, *words: str) -> str:
        """What ``footplate`` prints."""
        done = run_footplate(*words, env=self.service.environment(), timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def submit(
        self,
        source: str,
        *args: str,
        setup: str | None = None,
        labels: object = None,
        **training_input: object,
    ) -> TrainingJobName:
        """Send ``source`` as ``trainer/task.py`` of a package; its job directory is OUT/ID."""
        self.sent += 1
        name = TrainingJobName(self.project, f"job_{self.sent}")
        package = GcsUri(self.bucket.name, f"{name.job_id}.tar.gz")
        job = {
            "jobId": name.job_id,
            "labels": labels or {},
            "trainingInput": {
                "scaleTier": "BASIC",
                "region": "us-central1",
                "packageUris": [str(package)],
                "pythonModule": "trainer.task",
                "args": list(args),
                "jobDir": f"gs://{self.bucket.name}/out/{name.job_id}",
                **training_input,
            },
        }
        with self.client() as client:
            client.storage.upload(package, pack_trainer(source, setup))
            client.training_jobs.create(self.project, job)  # type: ignore[arg-type]  # JSON by hand
        return name

    def out(self, name: TrainingJobName) -> Path:
        """The job's directory, as the program sees it."""
        return self.bucket / "out" / name.job_id

    def job(self, name: JobName) -> Job:
        with self.client() as client:
            return client.job(name)

    def lines(self, name: JobName) -> list[LogLine]:
        with self.client() as client:
            return list(client.logs(name))

    def messages(self, name: JobName) -> list[str]:
        return [line.message for line in self.lines(name)]

    def wait_for(self, name: JobName, *states: State) -> Job:
        """Until the job is in one of the states; any end if none is named."""

        def there() -> bool:
            state = self.job(name).state
            assert not state.terminal or not states or state in states, self.job(name).error_message
            return state in states or (not states and state.terminal)

        if all(state.terminal for state in states):
            self._follow(name)
        self.until(there)
        return self.job(name)

    def _follow(self, name: JobName) -> None:
        """Read the lines of the job until it ends, or the server does: one request."""
        deadline = time.monotonic() + self.patience_s
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=SIGNS_OF_LIFE_S)
        with closing(connection), suppress(OSError, HTTPException):
            path = f"/footplate/v1/{quote(str(name))}/logs?follow=true"
            connection.request("GET", path, headers=headers)
            with connection.getresponse() as lines:
                while lines.readline():
                    assert time.monotonic() < deadline, self.service.log.read_text()

    def until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + self.patience_s
        while not true():
            assert time.monotonic() < deadline, self.service.log.read_text()
            time.sleep(0.05)

    def end_jobs(self) -> None:
        """Cancel those of the project that still run, and wait for their ends."""
        with self.client() as client:
            jobs: list[Job] = [
                *client.tuning_jobs.list(self.project, REGION),
                *client.training_jobs.list(self.project),
                *client.custom_jobs.list(self.project, REGION),
            ]
            active = [job.name for job in jobs if not job.state.terminal]
            for name in active:
                client.cancel(name)
        for name in active:
            self.wait_for(name)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """At a service of the test's own, which it may kill, stop, fill and configure."""
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1) as service:
        yield Context(service)


class SharedServices:
    """Services of all tests of a worker that neither kill them nor need other settings."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._services: dict[str, RunningService] = {}
        self._running: list[ExitStack] = []
        self._users = 0

    @contextmanager
    def context(self, **settings: object) -> Iterator[Context]:
        """A user with a project and a bucket of their own; no job of theirs outlives the block."""
        key = str(sorted(settings.items()))
        if key not in self._services:
            self._services[key] = self._start(**settings)
        self._users += 1
        token = settings.get("token")
        context = Context(
            self._services[key],
            None if token is None else str(token),
            f"project-{self._users}",
            f"bucket-{self._users}",
        )
        yield context
        context.end_jobs()
        context.until(lambda: leftovers(context) == [])

    @contextmanager
    def limiting(self, **settings: object) -> Iterator[Context]:
        """As ``context``, with a machine type own-small; skips where nothing limits programs."""
        if sys.platform != "linux" or os.geteuid() != 0:
            pytest.skip("limits need control groups, and here root")
        catalogue = self._folder / "catalogue.toml"
        catalogue.write_text(SMALL_MACHINE)
        with self.context(catalogue=catalogue, **settings) as context:
            log = context.service.log.read_text()
            if "control groups limit each" not in log:
                pytest.skip(log)
            yield context

    def _start(self, **settings: object) -> RunningService:
        data = self._folder / f"{len(self._services)}" / "data"
        data.parent.mkdir()
        service = running_service(data, CACHE, **{"stop_grace_s": 1, **settings})
        self._running.append(ExitStack())
        return self._running[-1].enter_context(service)

    def down(self) -> None:
        """End all at once, as each waits for its own jobs.

        Fails where a process of a job survives its service.
        """
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda running: running.close(), self._running))
        assert find_living(str(self._folder)) == []


@pytest.fixture(scope="session")
def shared_services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServices]:
    services = SharedServices(tmp_path_factory.mktemp("shared"))
    yield services
    services.down()


@pytest.fixture
def enforcing(shared_services: SharedServices) -> Iterator[Context]:
    """At a service that gives each program what its machine type has."""
    with shared_services.limiting(mode="enforce") as context:
        yield context


@pytest.fixture
def shared(shared_services: SharedServices) -> Iterator[Context]:
    """At the service with default settings that all tests of a worker share."""
    with shared_services.context() as context:
        yield context
