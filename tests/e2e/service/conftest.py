"""A whole service with real programs: what a test needs to send one and to follow it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from footplate.client.service import Service
from footplate.domain.names import GcsUri, TrainingJobName
from footplate.testing.service import running_service
from tests.support.forked_process import run_footplate
from tests.support.trainers import pack_trainer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.client.records import Job, LogLine
    from footplate.domain.job_states import State
    from footplate.domain.names import JobName
    from footplate.testing.service import RunningService

CACHE = Path(__file__).parents[3] / ".cache" / "footplate"
"""Shared by all tests: environments are built once."""
BUCKET = "stage"


class Context:
    """A running service with a bucket, and one user at it."""

    patience_s = 600.0
    """The first job in a cache installs its runtime, which takes minutes on a busy machine."""
    token: str | None = None

    def __init__(self, service: RunningService, token: str | None = None) -> None:
        self.service = service
        self.token = token
        self.sent = 0
        with self.client() as client:
            client.storage.create_bucket("demo", BUCKET)

    @property
    def bucket(self) -> Path:
        return self.service.data_dir / "buckets" / BUCKET

    def client(self) -> Service:
        return Service(self.service.url, self.token)

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
        name = TrainingJobName("demo", f"job_{self.sent}")
        package = GcsUri(BUCKET, f"{name.job_id}.tar.gz")
        job = {
            "jobId": name.job_id,
            "labels": labels or {},
            "trainingInput": {
                "scaleTier": "BASIC",
                "region": "us-central1",
                "packageUris": [str(package)],
                "pythonModule": "trainer.task",
                "args": list(args),
                "jobDir": f"gs://{BUCKET}/out/{name.job_id}",
                **training_input,
            },
        }
        with self.client() as client:
            client.storage.upload(package, pack_trainer(source, setup))
            client.training_jobs.create("demo", job)  # type: ignore[arg-type]  # JSON by hand
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

        self.until(there)
        return self.job(name)

    def until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + self.patience_s
        while not true():
            assert time.monotonic() < deadline, self.service.log.read_text()
            time.sleep(0.05)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1) as service:
        yield Context(service)
