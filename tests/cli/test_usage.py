"""``usage`` of both faces' jobs, against a service that knows samples and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from click.testing import CliRunner, Result

from footplate.api.app import create_app
from footplate.api.footplate_v1.usage import usage_routes
from footplate.api.security import Access
from footplate.cli.main import main
from footplate.domain.jobs import Job
from footplate.domain.usage import Counters, GpuUse, Sample
from tests.support.http_server import serve
from tests.support.jobs import make_job, make_search, make_spec
from tests.support.store import MemoryStore
from tests.support.usage import MemoryUsage
from tests.support.usage_contract import MASTER, START, WORKER

GIB = 1 << 30


@pytest.fixture
def usage() -> MemoryUsage:
    return MemoryUsage()


@pytest.fixture
def jobs() -> tuple[Job, ...]:
    custom = "projects/demo/locations/us-central1/customJobs/123"
    return (
        make_job("projects/demo/jobs/census_1", uid="a", spec=make_spec(workers=1)),
        make_job(custom, uid="b", spec=make_spec(workers=1)),
        make_job(
            "projects/demo/jobs/tuned_1", uid="c", spec=replace(make_spec(), search=make_search())
        ),
    )


@pytest.fixture
def invoke(
    usage: MemoryUsage, jobs: tuple[Job, ...], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Result]]:
    for name in ("FOOTPLATE_TOKEN", "FOOTPLATE_PROJECT", "CLOUDSDK_CORE_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GOOGLE_CLOUD_PROJECT", "CLOUDSDK_AI_REGION", "CLOUDSDK_COMPUTE_REGION"):
        monkeypatch.delenv(name, raising=False)
    store = MemoryStore()
    for job in jobs:
        store.create(job, ())

    def run(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="footplate", catch_exceptions=False)

    with serve(create_app(usage_routes(usage, store.get), Access())) as url:
        monkeypatch.setenv("FOOTPLATE_URL", url)
        yield run


@pytest.fixture
def busy(usage: MemoryUsage, jobs: tuple[Job, ...]) -> None:
    """A master that begins slowly and has a GPU, a worker that idles."""
    cpu_s = 0.0
    for number in range(1, 9):
        cpu_s += 10.0 * min(number, 4) / 2
        counters = Counters(10.0 * number, cpu_s, 5 << 20, number * GIB)
        gpus = (GpuUse("0", 12.0 * number, 2 * GIB), GpuUse("1", None, None))
        sample = make(number, counters, number * GIB // 4, gpus)
        for job in jobs:
            usage.append(job.uid, 1, MASTER, [sample])
    idle = Counters(10.0, 0.01, 0, 0)
    for job in jobs:
        usage.append(job.uid, 1, WORKER, [make(1, idle, 1 << 20)])


def make(number: int, counters: Counters, memory: int, gpus: tuple[GpuUse, ...] = ()) -> Sample:
    time = START + timedelta(seconds=10 * number)
    return Sample(number, time, counters, 0.0, memory, processes=1, gpus=gpus)


TABLE = """\
REPLICA           CPU   CPU_MEAN  CPU_PEAK  MEMORY   MEMORY_PEAK  READ     WRITTEN  GPU             CPU_OVER_TIME
master-replica-0  200%  162%      200%      2.0 GiB  2.0 GiB      5.0 MiB  8.0 GiB  96% 2.0 GiB, -  ▃▅▇█████
worker-replica-0  0%    0%        0%        1.0 MiB  1.0 MiB      0 B      0 B      -               ▁
"""  # noqa: E501


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(
    "words", [("ai-platform", "jobs", "usage", "census_1"), ("ai", "custom-jobs", "usage", "123")]
)
def test_it_is_a_table(invoke: Callable[..., Result], words: tuple[str, ...]) -> None:
    assert invoke(*words).stdout == TABLE


@pytest.mark.usefixtures("busy")
def test_one_replica_shows_only_what_is_known_of_it(invoke: Callable[..., Result]) -> None:
    words = ("ai-platform", "jobs", "usage", "census_1", f"--replica={MASTER}", "--points=4")
    assert invoke(*words).stdout == (
        "REPLICA           CPU   CPU_MEAN  CPU_PEAK  MEMORY   MEMORY_PEAK  READ     WRITTEN  "
        "GPU             CPU_OVER_TIME\n"
        "master-replica-0  200%  162%      200%      2.0 GiB  2.0 GiB      5.0 MiB  8.0 GiB  "
        "96% 2.0 GiB, -  ▄███\n"
    )


@pytest.mark.usefixtures("busy")
def test_other_formats_have_all_of_it(invoke: Callable[..., Result]) -> None:
    words = ("ai", "custom-jobs", "usage", "123", f"--replica={WORKER}")
    point = {
        "time": "2026-01-02T03:04:15.000000Z",
        "seconds": 10.0,
        "cpu": {"mean": 0.001, "peak": 0.001},
        "memoryBytes": {"mean": 1048576.0, "peak": 1048576.0},
        "processes": {"mean": 1.0, "peak": 1.0},
        "readBytesPerSecond": {"mean": 0.0, "peak": 0.0},
        "writtenBytesPerSecond": {"mean": 0.0, "peak": 0.0},
    }
    rest = {"now": point, "overall": point, "points": [point]}
    assert json.loads(invoke(*words, "--format=json").stdout) == [
        {"replica": WORKER, "updateTime": point["time"], **rest}
    ]
    assert invoke(*words, "--format=value(replica,now.cpu.mean)").stdout == f"{WORKER}\t0.001\n"
    assert invoke(*words, "--format=yaml").stdout.startswith("now:\n  cpu:\n    mean: 0.001\n")


def test_a_job_of_which_nothing_is_known(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "usage", "census_1")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "The service hasn't measured yet what job census_1 uses.\n"


def test_a_tuning_job_names_the_jobs_that_use_something(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "usage", "tuned_1")
    assert result.exit_code == 1
    assert "in the jobs of its trials, tuned_1-1, tuned_1-2 and so on" in result.stderr


def test_a_replica_that_is_not_there(invoke: Callable[..., Result]) -> None:
    result = invoke("ai-platform", "jobs", "usage", "census_1", "--replica=nobody")
    assert result.exit_code == 1
    assert result.stderr == f"Error: there is no replica 'nobody'; there are {MASTER}, {WORKER}\n"
