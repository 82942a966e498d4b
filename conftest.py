"""What all tests share, and the order in which several workers run them."""

import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.postgresql import Postgresql, find_binaries, private_postgresql
from tests.support.profiles import NAME, load_profile

if TYPE_CHECKING:
    from tests.support.s3_server import S3Server

load_profile()

# To be said before NumPy is imported. The last bits of sums, which a replay of a suggestion has to
# meet, depend on the number of threads, and the service gives its tuner one. Matrices are small
# here: threads that wait for each other on a busy machine take a hundred times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Begun in a shell's background, what is started here would ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

GROUPS = {
    "tests/e2e/kubernetes": "kubernetes",
    "tests/e2e/all_backends": "kubernetes",
    "tests/e2e/ray": "ray",
    "tests/e2e/containers": "engines",
    "tests/e2e/engines": "engines",
    "tests/clients/test_gcloud_images.py": "engines",
    "tests/e2e/slurm/test_contract.py": "slurm-contract",
    "tests/e2e/slurm/test_faults.py": "slurm-faults",
    "tests/e2e/slurm/test_machines.py": "slurm-machines",
    "tests/e2e/slurm/test_files.py": "slurm-contract",
    "tests/e2e/slurm/test_program_calls.py": "slurm-contract",
    "tests/e2e/slurm/test_reduction.py": "slurm-contract",
    "tests/e2e/slurm/test_rest.py": "slurm-contract",
    "tests/e2e/slurm/test_service.py": "slurm-contract",
    "tests/docs/test_containers.py": "engines",
    "tests/e2e/runtimes/test_algorithms.py": "algorithms",
    "tests/e2e/service/test_algorithms.py": "algorithms",
    "tests/e2e/frameworks": "frameworks",
    "reduction/tests/torch": "torch",
    "tests/hostile/test_routes.py": "hostile",
    "tests/e2e/service/test_local_train.py": "local-train",
    "tests/clients/test_grpc.py": "grpc",
    "tests/clients/test_vertex_sdk_experiments.py": "experiments",
    "tests/clients/test_zero_change.py": "zero-change",
    "tests/e2e/service/test_bound_stores.py": "stores",
    "tests/contract/test_buckets.py": "stores",
    "tests/unit/buckets/test_s3_store.py": "stores",
    "tests/api/storage/test_bound_clients.py": "stores",
    "tests/console": "console",
}
"""Tests that run in one worker, because they share an engine, an environment or a service. The
longest groups come first: they begin while there is other work to be done beside them."""

SLOW = (
    *GROUPS,
    "tests/e2e",
    "tests/clients",
    "tests/hostile",
    "tests/simulation",
    "tests/docs/test_coverage.py",
    "tests/docs/test_own_loop.py",
    "tests/docs/test_pipelines.py",
    "tests/docs/test_reduction.py",
    "tests/docs/test_survival.py",
    "tests/docs/test_tuning.py",
    "tests/docs/test_tutorials.py",
    "tests/docs/test_walk.py",
    "tests/contract",
    "tests/cli",
    "tests/api",
    "reduction/tests",
    "tests/unit/control/suggestions",
    "tests/unit/server/test_reduction.py",
)
"""Tests that start a server, an engine or many processes, or build an environment: ``make quick``
leaves them out, and they begin before the others."""

ROTATED = {
    "tests/e2e/containers/test_slurm.py": "slurm",
    "tests/e2e/containers": "podman",
    "tests/e2e/engines": "podman",
    "tests/e2e/kubernetes": "kubernetes",
    "tests/e2e/ray": "ray",
    "tests/e2e/slurm": "slurm",
}
"""Long tests of one engine, and that engine: ``make test`` names in ``TEST_ENGINE`` the one whose
tests it runs; ``all``, or no such variable, runs all."""

EACH_TIME = (
    "tests/e2e/containers/test_jobs.py",
    "tests/e2e/kubernetes/test_service.py",
    "tests/e2e/slurm/test_service.py",
)
"""What runs of them with each commit."""

WORKERS_PER_CORE = 2
"""Tests of servers and of processes wait for most of their time."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0))
    return cores if NAME == "quick" else WORKERS_PER_CORE * cores


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of tests that won't run, not even the modules are imported."""
    place = collection_path.relative_to(config.rootpath).as_posix()
    leave_out = config.option.markexpr == "not slow" and _first_of(place, SLOW) is not None
    return True if leave_out else None


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = {item for item in items if _is_left_out(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        place = _place(item)
        if _first_of(place, SLOW) is not None:
            item.add_marker(pytest.mark.slow)
        if (group := _first_of(place, GROUPS)) is not None:
            item.add_marker(pytest.mark.xdist_group(GROUPS[group]))
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: _turn(_place(item)))


def _is_left_out(item: pytest.Item) -> bool:
    place = _place(item)
    engine = None if place in EACH_TIME else ROTATED.get(_first_of(place, ROTATED) or "")
    if engine is not None and os.environ.get("TEST_ENGINE", "all") not in (engine, "all"):
        return True
    return NAME != "soak" and item.get_closest_marker("soak") is not None


def _place(item: pytest.Item) -> str:
    return item.path.relative_to(item.config.rootpath).as_posix()


def _turn(place: str) -> int:
    """Groups, then other slow tests, then the rest; each in the order of the lists above."""
    first = _first_of(place, SLOW)
    return len(SLOW) if first is None else SLOW.index(first)


def _first_of(place: str, paths: Iterable[str]) -> str | None:
    return next((each for each in paths if place == each or place.startswith(f"{each}/")), None)


@pytest.fixture(scope="session")
def s3_server() -> Iterator["S3Server"]:
    from tests.support.s3_server import running_s3  # few need it, and it takes seconds to import

    with running_s3() as server:
        yield server


@pytest.fixture
def s3(s3_server: "S3Server", monkeypatch: pytest.MonkeyPatch) -> "S3Server":
    """A server with the API of S3, one for each worker, with credentials in the environment."""
    for name, value in s3_server.credentials.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Postgresql]:
    """A running server; without its binaries tests are skipped, and in CI they fail."""
    binaries = find_binaries()
    if binaries is None:
        reason = "no PostgreSQL server found (Debian: apt-get install postgresql)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with private_postgresql(binaries) as server:
        yield server
