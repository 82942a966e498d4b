"""Servers and commands that are forked are as those that are started."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from footplate.testing.service import FOOTPLATE, RunningService, outside, running_service
from tests.support import ROOT
from tests.support.fake_service import FakeService
from tests.support.forked_process import ForkedProcess, run_footplate
from tests.support.gcloud import find_gcloud
from tests.support.supervisor_process import wait_until

LIMIT_S = 60
FACTS = """
import json, os, resource
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
names = ("SigIgn", "SigBlk", "Umask", "Cpus_allowed", "Groups", "CapEff", "Seccomp")
print(json.dumps({
    "environment": dict(os.environ),
    "cwd": os.getcwd(),
    "descriptors": {n: os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in range(3)},
    "others": [n for n in os.listdir("/proc/self/fd") if int(n) > 3],
    "nice": os.getpriority(os.PRIO_PROCESS, 0),
    "files": resource.getrlimit(resource.RLIMIT_NOFILE),
    "led": os.getppid() == os.getsid(0),
    **{name: status[name] for name in names},
}))
"""
DIES = """
import os, signal, sys
from tests.support.forked_process import ForkedProcess
from footplate.testing.service import FOOTPLATE
process = ForkedProcess((*FOOTPLATE, "up", "--port=0"))
assert process.forked
parent = open(f"/proc/{process.pid}/stat").read().rpartition(")")[2].split()[1]
print(process.pid, parent, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def fake() -> Iterator[FakeService]:
    with FakeService() as fake:
        yield fake


def process_of(service: RunningService) -> ForkedProcess[bytes]:
    process = service._process
    assert isinstance(process, ForkedProcess)
    assert process.forked
    return process


def await_end(pid: int) -> None:
    """Of a process that is no child of this one."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    assert poll.poll(LIMIT_S * 1000), f"process {pid} hasn't ended"
    os.close(pidfd)


def facts(
    kind: type[subprocess.Popen[str]], environment: Mapping[str, str], cwd: Path
) -> dict[str, object]:
    """What a program finds that a command started, and whether that leads its session."""
    with kind(
        (*FOOTPLATE, "run", "--", sys.executable, "-c", FACTS),
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        stdout, stderr = process.communicate(timeout=LIMIT_S)
    assert not process.returncode, stderr
    assert isinstance(process, ForkedProcess) is (kind is ForkedProcess)
    found: dict[str, object] = json.loads(stdout)
    return found


def test_a_forked_process_is_as_a_started_one(fake: FakeService, tmp_path: Path) -> None:
    environment = outside(os.environ) | {"HOME": str(tmp_path), "FOOTPLATE_URL": fake.url}
    first = facts(ForkedProcess, environment | {"FOOTPLATE_X": "1", "TZ": "Asia/Tokyo"}, tmp_path)
    second = facts(ForkedProcess, environment, tmp_path)

    assert "'FOOTPLATE_X': '1'" in str(first)
    assert "FOOTPLATE_X" not in str(second)
    assert second == facts(subprocess.Popen, environment, tmp_path)
    assert (second["others"], second["led"]) == ([], True)


@pytest.mark.parametrize("words", [("no-such-command",), ("--version",), ("status", "--help")])
def test_a_command_ends_and_prints_as_a_started_one(words: tuple[str, ...], tmp_path: Path) -> None:
    environment = outside(os.environ) | {"HOME": str(tmp_path)}
    started = subprocess.run(
        (*FOOTPLATE, *words), env=environment, capture_output=True, text=True, check=False
    )
    forked = run_footplate(*words, env=environment)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        started.returncode,
        started.stdout,
        started.stderr,
    )


GCLOUD = [
    ("config", "list"),
    ("no-such-command",),
    ("ai-platform", "jobs", "--help"),
    ("ai", "custom-jobs", "create", "--region=r", "--display-name=d", "--config=none.yaml"),
]


@pytest.mark.parametrize("words", GCLOUD)
def test_gcloud_ends_and_prints_as_a_started_one(words: tuple[str, ...], tmp_path: Path) -> None:
    """Also where it has a configuration that its fork server hasn't."""
    environment = outside(os.environ) | {
        "HOME": str(tmp_path),
        "CLOUDSDK_CONFIG": str(tmp_path),
        "CLOUDSDK_CORE_PROJECT": "demo",
    }
    (tmp_path / "configurations").mkdir()
    (tmp_path / "configurations" / "config_default").write_text("[core]\nverbosity = info\n")
    command = (find_gcloud(), *words)
    started = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    with ForkedProcess(
        command,
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as forked:
        printed = forked.communicate(timeout=LIMIT_S)
    assert forked.forked
    assert (forked.returncode, *map(plain, printed)) == (
        started.returncode,
        plain(started.stdout),
        plain(started.stderr),
    )


def plain(printed: str) -> str:
    """Without the name of the log, which has the time."""
    return re.sub(r"[\w/.-]+\.log\b", "LOG", printed)


def test_two_servers_end_each_in_its_own_way(tmp_path: Path) -> None:
    with running_service(tmp_path / "one") as one, running_service(tmp_path / "two") as two:
        killed, other = process_of(one), process_of(two)
        assert os.getpgid(one.pid) == one.pid != os.getpgid(two.pid)
        standard = [Path(f"/proc/{one.pid}/fd/{number}").readlink() for number in range(3)]
        assert standard == [Path(os.devnull), one.log, one.log]
        one.kill()
        assert (killed.returncode, other.poll(), two.alive) == (-signal.SIGKILL, None, True)
        two.stop()
        assert other.returncode == 0
        assert two.log.read_text().endswith("\nThe service has stopped.\n")
        one.start()
        assert killed.pid != one.pid


def test_a_process_is_killed_at_its_time_limit(tmp_path: Path) -> None:
    environment = outside(os.environ) | {"HOME": str(tmp_path)}
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        run_footplate("up", "--port=0", env=environment, timeout=0.5)
    assert caught.value.timeout == 0.5


def test_the_fork_server_has_nothing_of_those_that_have_ended(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        stat = Path(f"/proc/{service.pid}/stat").read_text().rpartition(")")[2].split()
        folder = Path(f"/proc/{stat[1]}/fd")
        before = len(list(folder.iterdir()))
        run_footplate("--version", check=True)
        # It says the exit status before it closes the socket for that.
        wait_until(lambda: len(list(folder.iterdir())) == before, "its descriptors")


def test_it_ends_with_its_worker_and_what_it_forked_goes_on(tmp_path: Path) -> None:
    with subprocess.Popen(
        (sys.executable, "-c", DIES),
        cwd=ROOT,
        env=outside(os.environ) | {"FOOTPLATE_DATA_DIR": str(tmp_path / "data")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as worker:
        assert worker.stdout is not None
        pid, fork_server = map(int, worker.stdout.readline().split())
    try:
        assert worker.returncode == -signal.SIGKILL
        await_end(fork_server)
        os.kill(pid, 0)
    finally:
        os.kill(pid, signal.SIGKILL)
        await_end(pid)


def test_what_an_interpreter_reads_at_its_start_starts_one() -> None:
    for variables in ({"PYTHONOPTIMIZE": "1"}, {"LD_BIND_NOW": "1"}):
        with ForkedProcess[str](
            (*FOOTPLATE, "--version"),
            env=outside(os.environ) | variables,
            stdout=subprocess.DEVNULL,
        ) as process:
            assert process.wait(LIMIT_S) == 0
        assert not process.forked
