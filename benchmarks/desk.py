"""A running service for benchmarks, and trainers that need no packages but their own."""

from __future__ import annotations

import hashlib
import itertools
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.client.service import Service
from footplate.domain.names import GcsUri, TrainingJobName
from footplate.testing.service import running_service

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support.trainers import pack_trainer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.testing.service import RunningService

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "footplate"
BUCKET = "bench"
_NUMBERS = itertools.count(1)


@contextmanager
def service(**settings: object) -> Iterator[tuple[RunningService, Service]]:
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        with (
            running_service(data_dir, CACHE, **settings) as running,
            Service(running.url) as client,
        ):
            client.storage.create_bucket("bench", BUCKET)
            yield running, client


def submit(client: Service, source: str, **training_input: object) -> TrainingJobName:
    """Send ``source`` as the module of a package; the same source is built only once."""
    return create(client, upload(client, source), **training_input)


def upload(client: Service, source: str) -> GcsUri:
    """Its package: ``source`` is the module."""
    content = pack_trainer(source)
    # Environments are kept by the packages' bytes and names.
    package = GcsUri(BUCKET, f"{hashlib.sha256(content).hexdigest()[:20]}.tar.gz")
    client.storage.upload(package, content)
    return package


def create(client: Service, package: GcsUri, **training_input: object) -> TrainingJobName:
    """A job of a package that is there."""
    name = TrainingJobName("bench", f"job_{next(_NUMBERS)}")
    job = {
        "scaleTier": "BASIC",
        "region": "us-central1",
        "packageUris": [str(package)],
        "pythonModule": "trainer.task",
        **training_input,
    }
    client.training_jobs.create("bench", {"jobId": name.job_id, "trainingInput": job})
    return name
