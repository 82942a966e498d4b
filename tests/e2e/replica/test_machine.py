"""What a program finds of its machine: a user with a name and a home, and places to write."""

from __future__ import annotations

import json
import os
import pwd
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.replica.test_unprivileged import ordinary
from tests.support.supervisor_process import Supervised, python_task

Make = Callable[..., Supervised]

__all__ = ["ordinary"]
USERS = [1879048192, 2147352575]
LOOK = """
import getpass, json, os, pathlib, pwd, subprocess
home = pathlib.Path.home()
(home / ".cache" / "models").mkdir(parents=True)
os.makedirs("/app/data")
with open("/app/data/model", "w") as file:
    file.write("m")
def say(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()
record = pwd.getpwuid(os.getuid())
print(json.dumps({
    "names": [getpass.getuser(), record.pw_name, say("whoami"), os.environ["USER"],
              os.environ["LOGNAME"]],
    "homes": [str(home), record.pw_dir, os.environ["HOME"]],
    "group": say("id", "-gn"),
    "root": sorted(os.listdir("/app/data")),
}))
"""
FORGE = """
import os
for name in os.listdir("/"):
    try:
        os.rename("/" + name, "/moved")
        print(name)
    except OSError:
        pass
"""
ROOT = """
import json, os, stat
names = {name: os.path.islink("/" + name) and os.readlink("/" + name) for name in os.listdir("/")}
print(json.dumps({"mode": stat.S_IMODE(os.stat("/").st_mode), "names": names}))
open("/model", "w").close()
"""


def look(replica: Supervised) -> dict[str, Any]:
    end = replica.supervise()
    if replica.api.events("ISOLATION")[1:]:
        pytest.skip(replica.api.events("ISOLATION")[1])
    assert end["code"] == 0, replica.api.lines("stderr")
    said: dict[str, Any] = json.loads(replica.api.lines()[0])
    return said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives programs users of their own")
def test_a_user_of_its_own_has_a_name_and_a_home(make_replica: Make) -> None:
    replica = make_replica(python_task(LOOK), program_users=USERS)
    found = look(replica)
    assert found["names"] == ["footplate"] * 5
    assert found["homes"] == ["/tmp/home"] * 3
    assert found["group"] == "footplate"
    assert found["root"] == ["model"]
    assert not Path("/app").exists()
    assert (replica.home / "tmp" / "home" / ".cache" / "models").is_dir()


def test_the_services_own_user_keeps_its_name(ordinary: dict[str, Any]) -> None:
    """And gets a home where it can't write the one that it has."""
    task = python_task(LOOK)
    task["program"]["argv"][0] = ordinary.get("python", sys.executable)
    replica = Supervised(task=task, **ordinary)
    try:
        found = look(replica)
    finally:
        replica.close()
    name = pwd.getpwuid(ordinary.get("user", os.geteuid())).pw_name
    assert found["names"] == [name] * 5
    assert found["homes"][0] == found["homes"][2]
    assert found["root"] == ["model"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives programs users of their own")
def test_what_the_root_directory_has_stays_there(make_replica: Make) -> None:
    replica = make_replica(python_task(FORGE), program_users=USERS)
    assert replica.supervise()["code"] == 0, replica.api.lines("stderr")
    assert replica.api.lines() == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs mount namespaces")
def test_each_job_has_a_root_directory_of_its_own(
    make_replica: Make, containment_mode: str
) -> None:
    """It has a place for all that the host's root has, and nothing that an earlier job left."""
    first, second = (make_replica(python_task(ROOT), isolation=containment_mode) for _ in range(2))
    found = look(first)
    with os.scandir("/") as entries:
        host = {
            entry.name: os.readlink(entry) if entry.is_symlink() else False  # noqa: PTH115
            for entry in entries
            if entry.is_symlink() or entry.is_dir() or entry.is_file()
        }
    assert found == {"mode": 0o1777, "names": {**host, "gcs": False, "proc": False, "tmp": False}}
    assert look(second) == found
    for replica in (first, second):
        assert (replica.home / "root" / "model").exists()
    assert not Path("/model").exists()
