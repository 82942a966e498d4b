"""What all tests share, and the order in which several workers run them."""

import gc
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.postgresql import Postgresql, private_postgresql, require_binaries
from tests.support.profiles import NAME, load_profile
from tests.support.run_report import LAST, RunReport
from tests.support.selection import Selection, group_of, is_slow

if TYPE_CHECKING:
    from tests.support.s3_server import S3Server

pytest_plugins = ["tests.support.worker_deaths"]
load_profile()
SELECTION = Selection(os.environ.get("SHARE", "all"))

# To be said before NumPy is imported. The last bits of sums, which a replay of a suggestion has to
# meet, depend on the number of threads, and the service gives its tuner one. Matrices are small
# here: threads that wait for each other on a busy machine take a hundred times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# While the tests are collected nothing is freed, and what is made then stays: a fifth of the
# processor time of unit tests was the search for what could be freed among it.
gc.disable()

# Begun in a shell's background, what is started here would ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

WORKERS_PER_CORE = 2
"""Tests of servers and of processes wait for most of their time."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0))
    return cores if NAME == "quick" else WORKERS_PER_CORE * cores


@pytest.hookimpl(wrapper=True)
def _leave_signals_as_they_were() -> Iterator[None]:
    """A test that leaves a signal blocked fails: what later tests start would not hear it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    result = yield
    left = signal.pthread_sigmask(signal.SIG_SETMASK, before) - before
    if left:
        pytest.fail(f"the test leaves signals blocked: {left}", pytrace=False)
    return result


pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = _leave_signals_as_they_were


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Marks a worker's last test: its teardown is that of all that the worker's tests shared."""
    if nextitem is None:
        item.user_properties.append((LAST, True))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of tests that won't run, not even the modules are imported."""
    place = collection_path.relative_to(config.rootpath).as_posix()
    quick = config.option.markexpr == "not slow"
    return True if SELECTION.skips_file(place) or (quick and is_slow(place)) else None


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = {item for item in items if _is_left_out(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        if is_slow(item.nodeid):
            item.add_marker(pytest.mark.slow)
        if (group := group_of(item.nodeid)) is not None:
            item.add_marker(pytest.mark.xdist_group(group))
    if hasattr(config, "workerinput"):
        turns = SELECTION.order([item.nodeid for item in items])
        items.sort(key=lambda item: turns[item.nodeid])


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def _is_left_out(item: pytest.Item) -> bool:
    soak = NAME != "soak" and item.get_closest_marker("soak") is not None
    return soak or SELECTION.leaves_out(item.nodeid)


@pytest.hookimpl(trylast=True)  # after pytest's own reporter
def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        end_what_killed_runs_left(Path(tempfile.gettempdir()))
        _hold_directory(config)
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not config.option.collectonly:
        config.pluginmanager.register(RunReport(terminal, SELECTION.describe()))


def _hold_directory(config: pytest.Config) -> None:
    factory = getattr(config, "_tmp_path_factory", None)
    if factory is None or config.option.collectonly:
        return
    from tests.support.engines import leftovers  # takes long to import

    directory = factory.getbasetemp()
    descriptor = leftovers.hold(directory)

    def let_go() -> None:
        (directory / leftovers.HELD).unlink(missing_ok=True)
        os.close(descriptor)

    config.add_cleanup(let_go)


def end_what_killed_runs_left(temporary: Path) -> None:
    """Ends it, and unmounts what it has mounted in its directories.

    Pytest gives directories of runs that have ended the name ``garbage``, and then removes them.
    It can't while something is mounted in one: then it does so when the next run ends.
    """
    others = [held.parent for held in temporary.glob("pytest-of-*/pytest-*/.held")]
    garbage = [*temporary.glob("pytest-of-*/garbage-*")]
    if others or garbage:
        from tests.support.engines import leftovers  # takes long to import

        for directory in others:
            leftovers.end_killed_run(directory)
        for directory in garbage:
            leftovers.unmount_below(directory)


@pytest.fixture(scope="session", autouse=True)
def forked_services() -> None:
    """Servers of tests are forked, not started."""
    from footplate.testing.service import RunningService
    from tests.support.forked_process import ForkedProcess

    RunningService.process_class = ForkedProcess


@pytest.fixture
def started_services(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of this test are started as users start them: it is about that."""
    from footplate.testing.service import RunningService

    monkeypatch.setattr(RunningService, "process_class", subprocess.Popen)


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
    with private_postgresql(require_binaries()) as server:
        yield server
