"""The examples of clusters, sent as their users send them, to a service of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from footplate.client.records import CustomJob
from footplate.domain.names import CustomJobName, JobName, TrainingJobName, parse_job_name
from footplate.testing.service import running_service
from footplate.wire.footplate_v1.events import Event
from tests.e2e.service.conftest import CACHE, Context
from tests.support.forked_process import run_footplate

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "clusters"
_SUBMIT_S = 120.0


class Clusters(Context):
    """Sends examples by their folders' names."""

    patience_s = 900.0
    """For what may have to build a runtime first; a built one takes a hundredth of it."""

    def send(self, example: str, *args: str) -> TrainingJobName:
        """Through ml v1, with the example's own configuration file."""
        folder = EXAMPLES / example
        config = yaml.safe_load((folder / "config.yaml").read_text())
        task = (folder / "trainer" / "task.py").read_text()
        return self.submit(task, *args, **config["trainingInput"])

    def send_by_sdk(self, example: str, replicas: int) -> CustomJobName:
        """By the unchanged Vertex SDK; it works below ``BUCKET/EXAMPLE``."""
        script = str(EXAMPLES / example / "task.py")
        submit = (str(EXAMPLES / "submit_vertex.py"), "demo", self.bucket.name, script)
        words = ("run", "--", sys.executable, *submit, str(replicas))
        environment = self.service.environment(FOOTPLATE_CACHE_DIR=str(CACHE))
        done = run_footplate(*words, env=environment, timeout=_SUBMIT_S)
        assert done.returncode == 0, done.stderr
        name = parse_job_name(done.stdout.splitlines()[-1])
        assert isinstance(name, CustomJobName)
        return name

    def wait_for_end(self, name: CustomJobName) -> CustomJob:
        with self.client() as client:
            self.until(lambda: client.custom_jobs.get(name).state.terminal)
            return client.custom_jobs.get(name)

    def replicas_that_said(self, name: JobName, text: str) -> set[str]:
        """Those that printed a line which begins with ``text``."""
        with self.client() as client:
            lines = list(client.logs(name))
        return {line.replica for line in lines if line.message.startswith(text)}

    def events(self, name: JobName, kind: str) -> list[Event]:
        with self.client() as client:
            return [event for event in client.events(name) if event.kind == kind]


@pytest.fixture
def clusters(tmp_path: Path) -> Iterator[Clusters]:
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1) as service:
        yield Clusters(service)


def read_report(folder: Path, name: str = "report") -> Any:
    """What an example says of itself beside its model."""
    return json.loads((folder / f"{name}.json").read_text())
