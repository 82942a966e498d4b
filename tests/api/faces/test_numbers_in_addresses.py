"""Numbers that no database holds, nor Python reads, in addresses: answered, not crashed at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1 import About, footplate_routes
from footplate.api.replica_v1 import replica_routes
from footplate.api.security import Access
from footplate.buckets.copies import FolderCopies
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.bucket_copies import CopySteps
from footplate.control.control_requests import ControlRequests
from footplate.control.images import Images
from footplate.control.reduction_setup import ReductionKit
from footplate.control.replica_reports import Reports
from footplate.control.replica_tasks import Limits, Tasks
from footplate.control.status import Status
from footplate.control.tokens import Bearer, Tokens
from footplate.control.wheels import Wheel
from footplate.domain.lifecycle import Admitted, react
from footplate.domain.sites import Mode, Site
from footplate.store import open_store
from tests.support.clock import FakeClock
from tests.support.container_engine import FakeContainerEngine
from tests.support.http_server import serve
from tests.support.jobs import make_job
from tests.support.logs import MemoryLogs
from tests.support.usage import MemoryUsage

TOKENS = Tokens(b"key")
JOB = react(make_job(), Admitted(FakeClock().now())).job
HUGE = [pytest.param(str(1 << 63), id="64 bits"), pytest.param("9" * 5000, id="5000 digits")]


@pytest.fixture
def http(tmp_path: Path) -> Iterator[httpx.Client]:
    store, clock = open_store(f"sqlite:///{tmp_path}/jobs.db"), FakeClock()
    store.create(JOB, ())
    buckets = FolderBuckets(tmp_path / "buckets", clock)
    site = Site("this machine", Mode.EMULATE, 1, 1, 1024)
    kit = ReductionKit(b"key", None)
    wheel = Wheel("algorithms.whl", b"")
    limits = Limits(1, 1, 600.0)
    images, engine = Images(store), FakeContainerEngine()
    tasks = Tasks(
        store,
        buckets,
        load_catalogue(),
        lambda _: site,
        clock,
        limits,
        lambda: 1,
        kit,
        wheel,
        images,
        engine,
    )
    copies = CopySteps(store, buckets, FolderCopies(tmp_path / "copies", buckets), ())
    reports = Reports(store, MemoryLogs(clock.now), MemoryUsage(), clock, lambda: None)
    status = Status(store, clock, lambda: None)
    routes = [
        *replica_routes(tasks, reports, TOKENS, ControlRequests(lambda: "w", 1), images, copies),
        *footplate_routes(status, store, About("1", "", 1, ""), lambda: None),
    ]
    with serve(create_app(routes, Access())) as url, httpx.Client(base_url=url) as client:
        yield client
    buckets.close()
    store.close()


@pytest.mark.parametrize("number", HUGE)
def test_events_after_a_huge_number(http: httpx.Client, number: str) -> None:
    answer = http.get(f"/footplate/v1/{JOB.name}/events", params={"after": number})
    assert answer.status_code == 200


@pytest.mark.parametrize("number", [*HUGE, "-1", "x"])
def test_a_package_with_a_huge_number(http: httpx.Client, number: str) -> None:
    path = f"/replica/v1/packages/{number}"
    token = TOKENS.issue(Bearer(JOB.attempt_id, "master-replica-0"))
    assert http.get(path).status_code == 403
    assert http.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 404
