"""Two regions of one service that are bound to the same cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from footplate.backends.engine.engine import EngineJob, JobPhase
from tests.support.backend_rig import make_request
from tests.support.engine_world import World
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


def test_a_job_that_has_another_id_now_is_no_twin_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Kubernetes when a project's namespace becomes that of the region."""
    world = World(tmp_path)
    world.start(make_request("u-1"))
    world.turn()
    world.schedule()
    world.turn()
    engine, listing = world.engine, world.engine.list
    cancelled: list[str] = []

    def list_anew(prefix: str) -> tuple[EngineJob, ...]:
        return tuple(replace(job, id=f"new/{job.id}") for job in listing(prefix))

    monkeypatch.setattr(engine, "list", list_anew)
    monkeypatch.setattr(engine, "find", lambda _: list_anew("")[0])
    monkeypatch.setattr(engine, "cancel", cancelled.append)
    world.turn()
    assert cancelled == []
    assert engine.jobs["1"].phase is JobPhase.RUNNING
