"""Two regions of one service that are bound to the same cluster."""

from __future__ import annotations

from pathlib import Path

from footplate.backends.engine.engine import JobPhase
from tests.support.backend_rig import make_request
from tests.support.fake_engine import FakeEngine, make_backend
from tests.support.local_backend import wait_until


def test_regions_of_one_cluster_leave_each_others_jobs_alone(tmp_path: Path) -> None:
    """The name of one begins with that of the other."""
    engine, names = FakeEngine(), ("us-east1", "us-east1-2", "europe-west4")
    backends = [make_backend(name, tmp_path / name, engine)[0] for name in names]
    try:
        for number, backend in enumerate(backends):
            backend.start(make_request(f"u-{number}"))
        wait_until(lambda: len(engine.jobs) == len(backends))
        looks = engine.looks
        wait_until(lambda: engine.looks > looks + 3 * len(backends))
    finally:
        for backend in backends:
            backend.close()
    assert {job.phase for job in engine.jobs.values()} == {JobPhase.WAITING}
