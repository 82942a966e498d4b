"""The process that owns the backend dies at any point of a start; stand-ins are the supervisors."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from footplate.backends.local import LocalBackend
from footplate.ports.backend import Presence
from tests.support import ROOT
from tests.support.backend_rig import WORKERS, all_are, make_request, see
from tests.support.local_backend import LocalRig, find_processes, wait_until
from tests.support.profiles import seeded

OWNER = "tests.e2e.backends.owner"
GANG = WORKERS[:2]
LEAST_STEPS = 20
"""Fewer would mean that nothing was tried."""
MOST_STEPS = 400
RANDOM_KILLS = 15
LONGEST_START_MS = 60


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[LocalRig]:
    """For its archive, and to end what was started with it."""
    rig = LocalRig(tmp_path)
    yield rig
    rig.close()


def make_backend(rig: LocalRig, folder: Path) -> LocalBackend:
    return LocalBackend(
        root=folder / "replicas",
        archive=rig.archive,
        python=Path(sys.executable),
        server_file=folder / "server.json",
        cache=folder / "cache",
        buckets=folder / "buckets",
        uv=Path("/usr/bin/uv"),
    )


def runs_once(home: Path) -> bool:
    """Whether whatever raced for the home is down to one supervisor."""
    return len(find_processes(home)) == 1


def check_recovery(rig: LocalRig, folder: Path) -> None:
    """The next server finds a whole request or none, and makes exactly one gang of it."""
    backend, root = make_backend(rig, folder), folder / "replicas"
    request = make_request("u-1", GANG)
    try:
        assert len(see(backend, request)) in (0, len(GANG))
        backend.watch(lambda _: None)
        assert len(see(backend, request)) in (0, len(GANG))
        backend.start(request)
        wait_until(lambda: all_are(backend, request, Presence.LIVE))
        for replica in GANG:
            home = root / "u-1" / replica
            wait_until(partial(runs_once, home))
            assert len((home / "runs").read_text().splitlines()) == 1
        backend.stop(request.attempt_id)
        wait_until(lambda: all_are(backend, request, Presence.GONE))
        backend.forget(request.attempt_id)
        assert backend.list() == ()
        left = {path.name for path in root.iterdir()}
        known = {".trash", ".ended", ".terms"}  # the last two stay for a day
        assert all(name in known or name.startswith(".making") for name in left)
        wait_until(lambda: not [*(root / ".trash").iterdir(), *root.glob(".making*/*")])
    finally:
        backend.close()


@pytest.fixture(params=["crash", "crash-forked"])
def owner(
    rig: LocalRig, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", OWNER, request.param, str(tmp_path), str(rig.archive), *GANG],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


def crash(owner: subprocess.Popen[str], kind: str, number: int, folder: Path) -> bool:
    """Whether it was killed before it was done."""
    folder.mkdir(exist_ok=True)
    assert owner.stdin is not None
    assert owner.stdout is not None
    owner.stdin.write(f"{kind} {number} {folder.name}\n")
    owner.stdin.flush()
    answer = owner.stdout.readline().strip()
    assert answer in ("killed", "done")
    return answer == "killed"


def test_a_crash_at_any_step_of_a_start_leaves_a_whole_request_or_none(
    rig: LocalRig, owner: subprocess.Popen[str], tmp_path: Path
) -> None:
    for number in range(1, MOST_STEPS):
        folder = tmp_path / f"{number}"
        if not crash(owner, "step", number, folder):
            break
        check_recovery(rig, folder)
    assert LEAST_STEPS < number < MOST_STEPS - 1


def test_a_kill_at_any_time_leaves_one_live_supervisor_for_each_replica(
    rig: LocalRig, owner: subprocess.Popen[str], tmp_path: Path
) -> None:
    """Unlike the steps above, these also fall between a spawn and the supervisor's lock."""
    choose = seeded(20260102)
    for number in choose.sample(range(LONGEST_START_MS), RANDOM_KILLS):
        folder = tmp_path / f"{number}"
        assert crash(owner, "after", number, folder)
        check_recovery(rig, folder)


def test_servers_that_die_one_after_the_other_leave_the_same(
    rig: LocalRig, owner: subprocess.Popen[str], tmp_path: Path
) -> None:
    choose = seeded(20260103)
    for number in range(RANDOM_KILLS):
        folder = tmp_path / f"{number}"
        for _ in range(3):
            crash(owner, "step", choose.randrange(1, 2 * LEAST_STEPS), folder)
        crash(owner, "after", choose.randrange(LONGEST_START_MS), folder)
        check_recovery(rig, folder)
