"""The contract of backends, over a real Ray, and what only Ray does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from footplate.backends.engine.engine import JobPhase
from footplate.backends.ray import RayEngine, RaySettings
from footplate.ports.backend import Presence
from tests.support.backend_rig import WORKERS, all_are, make_request, see
from tests.support.engine_contract import EngineContract
from tests.support.ray_cluster import RayCluster
from tests.support.ray_rig import RayRig


@pytest.fixture
def rig(ray_cluster: RayCluster, tmp_path: Path) -> Iterator[RayRig]:
    rig = RayRig(ray_cluster, tmp_path)
    yield rig
    rig.close()


class TestRayBackend(EngineContract):
    pass


def test_a_job_that_somebody_stops_ends_its_replicas_in_order(rig: RayRig) -> None:
    request = make_request("u-1", WORKERS[:2])
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    (job,) = rig.engine.list(f"footplate-{rig.service}-")
    httpx.post(f"{rig.cluster.address}/api/jobs/{job.id}/stop")
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    rig.settle(lambda: rig.launcher_pids(request.attempt_id) == ())


def test_the_job_of_one_replica_is_its_launcher(rig: RayRig) -> None:
    """With time for its end when somebody stops it, on the node that Ray names."""
    request = make_request("u-1", WORKERS[:1])
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    (replica,) = see(rig.backend, request)
    assert replica.node == rig.cluster.host
    address = f"{rig.cluster.address}/api/jobs/{replica.engine_id}"
    assert httpx.get(address).json()["entrypoint"].startswith("exec python -I -S alone.py")
    httpx.post(f"{address}/stop")
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    assert rig.launcher_pids(request.attempt_id) == ()


def test_a_worker_of_ray_that_is_killed_ends_its_replica_and_no_other(rig: RayRig) -> None:
    request = make_request("u-1", WORKERS[:2])
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    rig.kill_task(request.attempt_id, WORKERS[1])
    expected = [Presence.LIVE, Presence.GONE]
    rig.settle(lambda: [each.presence for each in see(rig.backend, request)] == expected)
    rig.settle(lambda: len(rig.launcher_pids(request.attempt_id)) == 1)


def test_a_gang_that_has_no_room_says_what_it_asked_for(rig: RayRig) -> None:
    settings = RaySettings(rig.cluster.address, machines={"*": {"CPU": 3}})
    rig.engine = RayEngine(settings)
    rig.reopen()
    request = make_request("u-1", WORKERS[:2])
    rig.backend.start(request)
    rig.settle(
        lambda: (
            "Ray has no free resources for 2 times {CPU 3}" in see(rig.backend, request)[0].reason
        )
    )
    rig.backend.stop(request.attempt_id)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    assert rig.runs(request.attempt_id) == 0


def test_a_check_says_how_soon_a_node_that_is_cut_off_is_seen(rig: RayRig) -> None:
    found = rig.engine.check()
    assert "lost nodes: Ray notices a disconnected node after about 9 s" in found.facts
    assert found.problems == ()
    # Ray may record its end once more after the job was deleted; that goes as old records do.
    assert all(job.phase is JobPhase.ENDED for job in rig.engine.list("footplate-check-"))
