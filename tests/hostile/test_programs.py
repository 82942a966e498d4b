"""A hostile program gets nothing, on any level of isolation, for services of root and of ordinary
users; or the ``ISOLATION`` event says that it may.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from footplate.replica.isolation import levels, mode_selection
from footplate.replica.supervisor_archive import build_archive
from tests.hostile import program, shared_files
from tests.support.supervisor_process import Supervised, command_task, find_living

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Attack = Callable[..., tuple[Supervised, dict[str, str]]]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="is about Linux")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="is about what root starts")
USERS = [1879048192, 2147352575]
PROVEN = frozenset(
    (
        *("write_into_system_directories", "be_root", "have_capabilities", "gain_privileges"),
        *("change_groups", "read_the_shadow", "set_the_core_pattern", "write_the_home_of_root"),
    )
)
"""What the program gets wherever it is root: these attempts work."""
NEEDS_VIEW = frozenset(
    (
        *("read_the_secrets", "list_the_service", "write_the_records_of_buckets"),
        *("read_what_all_may_read", "find_shared_memory", "link_to_secrets"),
    )
)
NEEDS_PROCESS_NAMESPACE = frozenset({"see_command_lines"})
NEEDS_OWN_USER = frozenset(
    (
        *("read_environments", "look_through_proc", "use_descriptors_of_others", "read_memory"),
        *("trace_a_process", "signal_a_process"),
    )
)
"""What it gets of other processes of its user, where it sees them."""
NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture
def shared() -> Iterator[list[str]]:
    with shared_files.planted() as files:
        yield files


@pytest.fixture
def attack(tmp_path: Path, archive: Path, shared: list[str]) -> Iterator[Attack]:
    """The service's data directory is ``data``, else one of the test."""
    made: list[Supervised] = []

    def run(
        data: Path = tmp_path / "service", python: str = sys.executable, **options: Any
    ) -> tuple[Supervised, dict[str, str]]:
        task = command_task(["/bin/true"], metrics=["secret"])
        options = {"private": [str(data)], "archive": archive, **options}
        replica = Supervised(data, task, python=python, **options)
        made.append(replica)
        facts = {**make_facts(replica), "shared": shared, "alone": "program_users" in options}
        task["program"]["argv"] = [python, "-c", SOURCE, json.dumps(facts)]
        replica.api.task.update(task)
        end = replica.supervise()
        skip_if_unprepared(end, options)
        assert end["code"] == 0, replica.api.lines("stderr")
        assert not [record for record in replica.api.records if "secret" in record.get("tag", "")]
        assert (data / "secret").read_text() == SECRET
        return replica, json.loads(replica.api.lines()[0])

    yield run
    for replica in made:
        replica.close()


SECRET = '{"timestamp": 1.0, "trial": "0", "secret": "0.5", "global_step": "1"}\n'
"""It would be a measurement, if a link to it were followed."""
SOURCE = Path(program.__file__).read_text(encoding="utf-8")


def skip_if_unprepared(end: dict[str, Any], options: dict[str, Any]) -> None:
    """Machines differ; where CI runs, only an ordinary user has no control groups."""
    if end["kind"] != "UNPREPARED":
        return
    ordinary = "user" in options or os.geteuid() != 0
    if os.environ.get("CI") == "true" and not (ordinary and options["isolation"] == "cgroup"):
        pytest.fail(end["cause"])
    pytest.skip(end["cause"])


def make_facts(replica: Supervised) -> dict[str, Any]:
    data = replica.directory
    hidden = [data / "secret", data / "footplate.db", data / "other" / "work" / "model"]
    for path in hidden:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)
    (data / "logs").mkdir()
    (data / "buckets" / ".footplate").mkdir()
    return {
        "data": str(data),
        "secrets": [str(path) for path in (*hidden, replica.home / "ticket.json")],
        "environment": sys.prefix,
        "buckets": str(data / "buckets"),
    }


def check(replica: Supervised, got: dict[str, str], *, alone: bool) -> None:
    """It got nothing but what the events say that it may get."""
    said = " ".join(replica.api.events("ISOLATION"))
    assert "runs as root" not in said
    expected: set[str] = set()
    if levels.HOST_VIEW.missing in said:
        expected |= NEEDS_VIEW
    if "it sees" in said.replace(levels.SEES_OWN, ""):
        expected |= NEEDS_PROCESS_NAMESPACE if alone else NEEDS_PROCESS_NAMESPACE | NEEDS_OWN_USER
    assert set(got) == set(program.ATTEMPTS)
    assert {name for name, what in got.items() if what} <= expected, (said, got)


@needs_root
@pytest.mark.parametrize("containment_mode", mode_selection.CONTAINMENT_MODES)
def test_a_program_gets_nothing(attack: Attack, containment_mode: str) -> None:
    replica, got = attack(isolation=containment_mode, program_users=USERS)
    said = " ".join(replica.api.events("ISOLATION"))
    assert "the program runs as user" in said
    check(replica, got, alone=True)
    assert replica.api.lines("stderr") == []


@pytest.mark.parametrize("containment_mode", mode_selection.CONTAINMENT_MODES)
def test_a_program_of_an_ordinary_users_service_gets_nothing(
    attack: Attack, archive: Path, containment_mode: str
) -> None:
    """Of what the service has and other users; but not of what its own user has."""
    directory = Path(tempfile.mkdtemp(dir="/var/tmp"))
    directory.chmod(0o755)
    shutil.copy(archive, directory)
    options: dict[str, Any] = {"archive": directory / archive.name}
    if os.geteuid() == 0:
        if not Path(SYSTEM_PYTHON).exists():
            pytest.skip("needs an interpreter that other users may run")
        options |= {"user": NOBODY, "python": SYSTEM_PYTHON}
    try:
        replica, got = attack(directory / "service", isolation=containment_mode, **options)
        said = " ".join(replica.api.events("ISOLATION"))
        assert levels.SERVICE_USER.missing in said
        check(replica, got, alone=False)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


LEAVE = """
import os, signal, sys, time
word = sys.argv[1]
def stay(*preparations):
    if os.fork():
        return
    for prepare in preparations:
        prepare()
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", word])
def fork_again():
    os.setsid()
    if os.fork():
        os._exit(0)
stay()
stay(os.setsid)
stay(fork_again)
stay(lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN), os.setsid)
stay(fork_again, os.environ.clear)
stopped = os.fork()
if stopped == 0:
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", word])
os.kill(stopped, signal.SIGSTOP)
for place in ("/dev/shm", "/var/tmp", "/run/lock"):
    if os.path.isdir(place):
        open(os.path.join(place, word), "w").close()
time.sleep(0.2)
print("left", flush=True)
"""


@needs_root
@pytest.mark.parametrize("containment_mode", mode_selection.CONTAINMENT_MODES)
def test_nothing_is_left_of_a_program(tmp_path: Path, archive: Path, containment_mode: str) -> None:
    word = f"footplate-test-{secrets.token_hex(8)}"
    task = command_task([sys.executable, "-c", LEAVE, word])
    options: dict[str, Any] = {"isolation": containment_mode, "program_users": USERS}
    replica = Supervised(tmp_path / "r", task, archive=archive, **options)
    try:
        end = replica.supervise()
    finally:
        replica.close()
    skip_if_unprepared(end, options)
    assert (end["code"], replica.api.lines()) == (0, ["left"])
    said = " ".join(replica.api.events("ISOLATION"))
    left = find_living(word)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left or "children that left it may survive" in said
    files = [path for place in shared_files.WRITABLE for path in Path(place).glob(f"{word}*")]
    for path in files:
        path.unlink()
    assert not files or levels.HOST_VIEW.missing in said


@needs_root
def test_the_same_program_succeeds_as_root(attack: Attack) -> None:
    """Else the other test would prove nothing."""
    replica, got = attack(allow_root=["p"], program_users=USERS)
    assert "the program runs as root, as the setting allow_root says" in " ".join(
        replica.api.events("ISOLATION")
    )
    assert {name for name, what in got.items() if what} >= PROVEN, got
