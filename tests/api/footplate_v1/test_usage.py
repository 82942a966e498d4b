"""Utilisation over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.usage import usage_routes
from footplate.api.security import Access
from footplate.client.service import Service
from footplate.domain.errors import NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.names import TrainingJobName
from footplate.domain.usage import Counters, GpuUse, Sample
from footplate.wire.footplate_v1.usage import Figure
from tests.support.http_server import serve
from tests.support.jobs import make_job, make_spec
from tests.support.store import MemoryStore
from tests.support.usage import MemoryUsage
from tests.support.usage_contract import MASTER, START, WORKER, make_sample, make_samples

NAME = TrainingJobName("demo", "census_1")
PATH = f"/footplate/v1/{NAME}/usage"


@dataclass
class World:
    job: Job
    url: str
    store: MemoryStore
    usage: MemoryUsage = field(default_factory=MemoryUsage)

    def keep(self, replica: str, *samples: Sample) -> None:
        self.usage.append(self.job.uid, 1, replica, samples)

    def get(self, query: str = "") -> httpx.Response:
        return httpx.get(f"{self.url}{PATH}{query}")


@pytest.fixture
def world() -> Iterator[World]:
    job, store = make_job(str(NAME), spec=make_spec(workers=1)), MemoryStore()
    store.create(job, ())
    usage = MemoryUsage()
    with serve(create_app(usage_routes(usage, store.get), Access())) as url:
        yield World(job, url, store, usage)


def test_each_replica_that_is_known(world: World) -> None:
    gpu = GpuUse("0", 55.5, 2048)
    sample = Sample(1, START, Counters(10.0, 5.0), quiet_s=0.0, memory_bytes=1000, gpus=(gpu,))
    world.keep(WORKER, sample)
    point = {
        "time": "2026-01-02T03:04:05.000000Z",
        "seconds": 10.0,
        "cpu": {"mean": 0.5, "peak": 0.5},
        "memoryBytes": {"mean": 1000.0, "peak": 1000.0},
        "gpus": {
            "0": {
                "percent": {"mean": 55.5, "peak": 55.5},
                "memoryBytes": {"mean": 2048.0, "peak": 2048.0},
            }
        },
    }
    assert world.get().json() == {
        "replicas": [
            {
                "replica": WORKER,
                "updateTime": point["time"],
                "overall": point,
                "points": [point],
                "now": point,
            }
        ]
    }


def test_points_are_as_many_as_wanted(world: World) -> None:
    world.keep(MASTER, *make_samples(1, 200))
    lengths = [
        len(world.get(query).json()["replicas"][0]["points"])
        for query in ("", "?points=7", "?points=1000")
    ]
    assert lengths == [60, 7, 200]


def test_replicas_come_in_the_order_of_the_job(world: World) -> None:
    world.keep(WORKER, make_sample(1))
    world.keep(MASTER, make_sample(1))
    names = [each["replica"] for each in world.get().json()["replicas"]]
    assert names == [MASTER, WORKER]
    (only,) = world.get(f"?replica={WORKER}").json()["replicas"]
    assert only["replica"] == WORKER


def test_a_job_that_has_ended_uses_nothing_now(world: World) -> None:
    world.keep(MASTER, make_sample(1))
    ended = replace(world.job, state=State.SUCCEEDED, version=world.job.version + 1)
    world.store.update(ended, ())
    (only,) = world.get().json()["replicas"]
    assert "now" not in only


@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("?points=0", "points", '"0" given; allowed: an integer from 1 to 1000'),
        ("?points=1001", "points", '"1001" given'),
        ("?points=" + "9" * 5000, "points", "given; allowed"),
        ("?points=%C2%B2", "points", "given; allowed"),
    ],
)
def test_what_can_not_be_asked(world: World, query: str, field: str, words: str) -> None:
    answer = world.get(query)
    assert answer.status_code == 400
    assert field in answer.text
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize("name", ["nobody", "../../x"])
def test_a_replica_that_is_not_there(world: World, name: str) -> None:
    answer = world.get(f"?replica={name}")
    told = f"there is no replica '{name}'; there are {MASTER}, {WORKER}"
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, told)


def test_a_replica_by_its_role(world: World) -> None:
    world.keep(WORKER, make_sample(1))
    (only,) = world.get("?replica=worker-0").json()["replicas"]
    assert only["replica"] == WORKER


def test_a_job_that_is_not_there(world: World) -> None:
    assert httpx.get(f"{world.url}/footplate/v1/projects/p/jobs/x/usage").status_code == 404


def test_the_client_reads_it(world: World) -> None:
    with Service(world.url) as client:
        assert client.usage(NAME) == ()
        world.keep(MASTER, *make_samples(1, 4))
        (usage,) = client.usage(NAME, points=2)
        assert usage.replica == MASTER
        assert [point.cpu for point in usage.points] == [Figure(mean=0.5, peak=0.5)] * 2
        assert usage.now is not None
        assert usage.overall.seconds == 40.0
        assert client.usage(NAME, replica=WORKER) == ()
        with pytest.raises(NotFound, match="no replica"):
            client.usage(NAME, replica="x")
        with pytest.raises(NotFound, match="nobody"):
            client.usage(TrainingJobName("demo", "nobody"))
