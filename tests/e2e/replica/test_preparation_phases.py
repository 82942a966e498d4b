"""Between the task and the program: the environment command, here one that plays a role."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from footplate.protocol.task import Runtime
from footplate.replica.environment.cache import Cache
from footplate.replica.environment.eviction import EvictionPolicy
from footplate.replica.environment_index import EnvironmentIndex
from footplate.replica.prepared import Prepared
from tests.support.replica_api import Reply
from tests.support.supervisor_process import Supervised, find_living, python_task, wait_until

Make = Callable[..., Supervised]

MACHINE = {"machine_type": "small", "vcpus": 1, "memory_mb": 4096, "disk_gb": 1}
USED = f"runtimes/{'0' * 32}"
ROLES = """
import json, os, sys, time

def main(home):
    task = json.load(open(home + "/task.json"))
    role = task["runtime"]["name"]
    return globals()[role](task)

def say(**words):
    print(json.dumps(words), flush=True)

def good(task):
    for i in (1, 1, 2):
        say(m="%d of 2 packages" % i)
    print("noise that is no JSON")
    say(python=sys.executable, bin=["/first", "/second"])
    return 0

def showing(task):
    say(m=" ".join(os.environ))
    return good_end()

def good_end():
    say(python=sys.executable, bin=[])
    return 0

USE = "runtimes/" + "0" * 32

def cached(task):
    home = sys.argv[-1]
    path = json.load(open(home + "/ticket.json"))["cache"] + "/" + USE
    os.makedirs(path, exist_ok=True)
    open(path + "/complete.json", "w").write("{}")
    say(python=sys.executable, bin=[], uses=[USE])
    return 0

def vanishing(task):
    path = sys.argv[-1] + "/seen"
    if os.path.exists(path):
        return cached(task)
    open(path, "w").close()
    say(m="first")
    say(python="/nowhere", bin=[], uses=[USE])
    return 0

def reaching(task):
    say(python=sys.executable, bin=[], uses=["../home/ticket.json"])
    return 0

def refusing(task):
    say(error="no wheel of frobnicate for Python 3.7: use a runtime version")
    return 1

def dying(task):
    raise KeyError("lost")

def killed(task):
    os.kill(os.getpid(), 9)

def lying(task):
    say(python=7)
    return 0

def silent(task):
    return 0

def filling(task):
    os.makedirs(sys.argv[-1] + "/packages", exist_ok=True)
    with open(sys.argv[-1] + "/packages/built", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1100 << 20)
    time.sleep(600)

def hanging(task):
    if os.fork() == 0:
        os.setsid()
    say(m="hanging")
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", task["job"]])
"""


@pytest.fixture(scope="session")
def acting_archive(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The supervisor with another environment command."""
    path = tmp_path_factory.mktemp("archive") / "acting.pyz"
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            if not name.startswith("footplate/replica/environment/"):
                target.writestr(name, source.read(name))
        target.writestr("footplate/replica/environment.py", ROLES)
    return path


@pytest.fixture
def play(make_replica: Make, acting_archive: Path) -> Make:
    def make(
        role: str, code: str = "import os; print(os.environ['PATH'])", **fields: object
    ) -> Supervised:
        task = python_task(code, runtime=Runtime(role, "3", {}).encode(), **fields)
        return make_replica(task, archive=acting_archive)

    return make


def test_progress_is_told_and_the_program_starts_in_what_was_made(play: Make) -> None:
    replica = play("good")
    assert replica.supervise()["code"] == 0
    assert replica.api.events("PREPARING") == ["1 of 2 packages", "2 of 2 packages"]
    assert replica.api.phases() == ["PREPARING", "RUNNING"]
    assert replica.api.lines()[0].startswith("/tmp/home/.local/bin:/first:/second:")


@pytest.mark.parametrize(
    ("role", "cause"),
    [
        ("refusing", "no wheel of frobnicate for Python 3.7: use a runtime version"),
        ("dying", "preparing the environment ended with code 1: KeyError: 'lost'"),
        ("killed", "preparing the environment was ended by signal 9"),
        ("lying", "the environment can't be read: python is not str: 7"),
        ("silent", "the environment can't be read: python is missing"),
        ("reaching", "'../home/ticket.json' names no environment"),
    ],
)
def test_what_cannot_be_prepared_says_why(play: Make, role: str, cause: str) -> None:
    replica = play(role)
    end = replica.supervise()
    assert (end["kind"], end["cause"]) == ("UNPREPARED", cause)
    assert replica.api.phases() == ["PREPARING"]


def test_a_stop_ends_the_preparation_with_all_it_started(play: Make) -> None:
    word = f"footplate-test-{os.getpid()}-preparing"
    replica = play("hanging", job=word)
    replica.api.start()
    replica.run()
    wait_until(lambda: len(find_living(word)) == 2, "the preparation")
    replica.process.send_signal(signal.SIGTERM)
    assert replica.finish()["kind"] == "STOPPED"
    assert not find_living(word)


def test_a_preparation_with_room_on_its_disk_goes_on(play: Make) -> None:
    word = f"footplate-test-{os.getpid()}-room"
    replica = play("hanging", job=word, allotment=MACHINE)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: bool(replica.api.events("PREPARING") or replica.api.exit))
    replica.process.send_signal(signal.SIGTERM)
    assert replica.finish()["kind"] == "STOPPED"


def test_a_preparation_that_takes_more_disk_than_its_machine_has_is_ended(play: Make) -> None:
    replica = play("filling", allotment=MACHINE)
    if shutil.disk_usage(replica.home).free < 4 << 30:
        pytest.skip("this disk is nearly full")
    end = replica.supervise()
    assert end["kind"] == "OUT_OF_DISK"
    assert end["cause"].startswith("while the environment was prepared, the program used 1.")


def test_a_preparation_that_leaves_a_daemon_behind(play: Make) -> None:
    """setup.py may start one; it must not live on with the program."""
    word = f"footplate-test-{os.getpid()}-daemon"
    replica = play("hanging", job=word)
    replica.api.start()
    replica.run()
    wait_until(lambda: len(find_living(word)) == 2, "the preparation")
    os.kill(min(find_living(word)), signal.SIGKILL)
    assert replica.finish()["kind"] == "UNPREPARED"
    assert not find_living(word)


def test_the_command_gets_no_settings_of_the_server(play: Make) -> None:
    replica = play("showing")
    hidden = {"PYTHONPATH": "/x", "VIRTUAL_ENV": "/x", "FOOTPLATE_PORT": "1", "PGPASSWORD": "p"}
    assert replica.supervise(UV_SHOWN="1", **hidden)["code"] == 0
    names = replica.api.events("PREPARING")[-1].split()
    assert "UV_SHOWN" in names
    assert not hidden.keys() & set(names)


@pytest.fixture
def recalling(play: Make) -> Callable[[str], Supervised]:
    """A replica whose like had an environment before."""

    def make(role: str) -> Supervised:
        replica = play(role, preparation="a" * 64)
        environment = replica.directory / "cache" / USED
        environment.mkdir(parents=True)
        (environment / "complete.json").write_text("{}")
        answer = Prepared(sys.executable, ("/was/there",), (USED,), ("old",))
        EnvironmentIndex(str(replica.directory / "cache"), ()).keep("a" * 64, answer)
        return replica

    return make


def test_an_environment_that_is_known_is_not_looked_for(
    recalling: Callable[[str], Supervised],
) -> None:
    replica = recalling("dying")
    assert replica.supervise()["code"] == 0
    assert replica.api.lines()[0].startswith("/tmp/home/.local/bin:/was/there:")
    assert replica.api.events("PREPARING") == ["old"]
    assert replica.api.phases() == ["PREPARING", "RUNNING"]


def test_one_that_has_gone_is_made_anew(recalling: Callable[[str], Supervised]) -> None:
    replica = recalling("good")
    (replica.directory / "cache" / USED / "complete.json").unlink()
    assert replica.supervise()["code"] == 0
    assert replica.api.lines()[0].startswith("/tmp/home/.local/bin:/first:/second:")
    assert replica.api.events("PREPARING") == ["1 of 2 packages", "2 of 2 packages"]


def refusal(status: int, name: str) -> Reply:
    error = {"code": status, "status": name, "message": "the job's bucket 'b' is not there"}
    return Reply(status, json.dumps({"error": error}).encode())


@pytest.mark.parametrize(
    ("status", "name"),
    [(404, "NOT_FOUND"), (400, "INVALID_ARGUMENT"), (501, "UNIMPLEMENTED")],
)
def test_a_server_that_can_not_give_the_task_ends_the_replica(
    make_replica: Make, status: int, name: str
) -> None:
    replica = make_replica(python_task("print(1)"))
    replica.api.script = lambda number: refusal(status, name) if number == 0 else None

    end = replica.supervise()
    assert end["kind"] == "UNPREPARED"
    assert end["cause"] == (
        "the supervisor can't get its task from the server: the job's bucket 'b' is not there"
    )


def test_a_server_that_is_none_of_ours_is_asked_again(make_replica: Make) -> None:
    replica = make_replica(python_task("print(1)"))
    answers = {1: Reply(404, b"<h1>Not Found</h1>"), 2: refusal(503, "UNAVAILABLE"), 3: Reply(501)}
    replica.api.script = answers.get

    assert replica.supervise()["kind"] == "EXITED"


def test_what_a_program_runs_in_is_kept_while_its_supervisor_lives(play: Make) -> None:
    code = "import time; print('up', flush=True); time.sleep(600)"
    replica = play("cached", code)
    cache = Cache(str(replica.directory / "cache"))
    replica.api.start()
    replica.run()
    wait_until(lambda: replica.api.lines() == ["up"], "the program")
    assert [found.entry.in_use for found in cache.look()] == [True]
    assert cache.prune(EvictionPolicy(everything=True)).removed == []
    replica.process.send_signal(signal.SIGKILL)
    replica.process.wait()
    assert [found.entry.in_use for found in cache.look()] == [False]
    assert len(cache.prune(EvictionPolicy(everything=True)).removed) == 1


def test_a_program_that_ended_uses_nothing(play: Make) -> None:
    replica = play("cached")
    assert replica.supervise()["code"] == 0
    (found,) = Cache(str(replica.directory / "cache")).look()
    assert not found.entry.in_use


def test_an_environment_that_is_removed_before_it_is_held_is_made_again(play: Make) -> None:
    replica = play("vanishing")
    assert replica.supervise()["code"] == 0
    assert replica.api.events("PREPARING") == ["first"]
    assert replica.api.phases() == ["PREPARING", "RUNNING"]
