"""A real Kubernetes with a node that crashes, and is then deleted or called out of service."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.kubernetes.node_states import OUT_OF_SERVICE
from footplate.ports.backend import Presence
from tests.support.backend_rig import WORKERS, all_are, make_request, see
from tests.support.kubernetes_machines import KubernetesMachines
from tests.support.kubernetes_rig import KubernetesMachinesRig
from tests.support.local_backend import wait_until

pytestmark = pytest.mark.soak

CHIEF, WORKER = WORKERS[:2]
LIMIT_S = 60.0
UNANSWERED_S = 30.0
"""Longer than it takes to see the node as not ready, which is no proof."""
WAYS = {
    "out of service": ("taint", "node", "{}", f"{OUT_OF_SERVICE}=nodeshutdown:NoExecute"),
    "deleted": ("delete", "node", "{}", "--wait=false"),
}


@pytest.fixture
def rig(machines: KubernetesMachines, tmp_path: Path) -> Iterator[KubernetesMachinesRig]:
    rig = KubernetesMachinesRig(machines, tmp_path)
    yield rig
    rig.close()


@pytest.mark.parametrize("way", WAYS)
def test_the_administrators_word_ends_the_wait(rig: KubernetesMachinesRig, way: str) -> None:
    request, files = make_request("u-1", (CHIEF, WORKER)), AttemptFiles(rig.root)
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    attempt = files.load(request.attempt_id)
    assert attempt is not None
    worker = attempt.replicas[WORKER]
    rig.settle(lambda: files.read_note(attempt.id, worker, "node") is not None)
    dead = rig.machine_of(request.attempt_id, WORKER)
    rig.machines.kill(dead)
    try:
        time.sleep(UNANSWERED_S)
        assert see(rig.backend, request)[1].presence is not Presence.GONE
        rig.cluster.kubectl(*(word.format(dead) for word in WAYS[way]))
        wait_until(lambda: see(rig.backend, request)[1].presence is Presence.GONE, LIMIT_S)
        print(see(rig.backend, request)[1].reason)
        assert see(rig.backend, request)[0].presence is Presence.LIVE
    finally:
        if way == "out of service":
            rig.cluster.kubectl("taint", "node", dead, f"{OUT_OF_SERVICE}-")
        rig.start_machine(dead)
