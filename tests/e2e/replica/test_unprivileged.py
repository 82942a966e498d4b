"""The ladder for a user who isn't root: for himself, or, run by root, for nobody."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.replica.isolation import mode_selection
from tests.e2e.replica.child_processes import BEAR
from tests.support.supervisor_process import Supervised, find_living, python_task, wait_until

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"

CODE = f"""{BEAR}
bear(1)
open("/tmp/x", "w")
print(os.getuid(), os.listdir("/tmp"))
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or (os.geteuid() == 0 and not Path(SYSTEM_PYTHON).exists()),
    reason="needs Linux, and for root an interpreter that others may use",
)


@pytest.fixture
def ordinary(archive: Path) -> Iterator[dict[str, Any]]:
    """What makes a replica one of an ordinary user."""
    directory = Path(tempfile.mkdtemp(dir="/var/tmp"))
    directory.chmod(0o755)
    shutil.copy(archive, directory)
    options: dict[str, Any] = {"archive": directory / archive.name}
    if os.geteuid() == 0:
        options.update(user=NOBODY, python=SYSTEM_PYTHON)
    yield {"directory": directory / "replica", **options}
    shutil.rmtree(directory)


PEEK = """
import glob, sys
paths = [sys.argv[1], *(root + sys.argv[1] for root in glob.glob("/proc/[0-9]*/root"))]
def read(path):
    try:
        return open(path).read()
    except OSError as error:
        return error.strerror
print(sorted(set(map(read, paths))))
"""


@pytest.mark.parametrize("isolation", ["auto", *mode_selection.CONTAINMENT_MODES])
def test_no_way_leads_behind_the_path_mask(ordinary: dict[str, Any], isolation: str) -> None:
    """Neither the path itself nor /proc, where the service and the supervisor have it open."""
    secret = ordinary["directory"] / "secret"
    task = python_task(PEEK, str(secret))
    task["program"]["argv"][0] = ordinary.get("python", sys.executable)
    private = [str(secret.parent)]
    replica = Supervised(task=task, isolation=isolation, private=private, **ordinary)
    secret.write_text("s")
    secret.chmod(0o644)
    try:
        end = replica.supervise()
    finally:
        replica.close()
    if end["kind"] == "UNPREPARED":
        assert isolation in ("cgroup", "namespace")
        assert isolation in end["cause"]
        return
    if replica.api.events("ISOLATION")[1:]:
        pytest.skip(replica.api.events("ISOLATION")[1])
    assert "'No such file or directory'" in replica.api.lines()[0]
    assert "'s'" not in replica.api.lines()[0]


WRITE = """
import os, sys
for path in sys.argv[1:]:
    try:
        os.close(os.open(path, os.O_WRONLY))
        print("written")
    except OSError as error:
        print(error.strerror)
"""


def test_what_all_jobs_run_can_only_be_read(ordinary: dict[str, Any]) -> None:
    """A runtime, another job's environment, and uv's cache, to which they are linked."""
    directory = ordinary["directory"]
    modules = [
        directory / "cache" / "runtimes" / "a" / "module.py",
        directory / "cache" / "layers" / "b" / "module.py",
        directory.parent / "uv-cache" / "module.py",
    ]
    task = python_task(WRITE, *map(str, modules))
    task["program"]["argv"][0] = ordinary.get("python", sys.executable)
    replica = Supervised(task=task, tmp_paths=[str(modules[2].parent)], **ordinary)
    for path in modules:
        path.parent.mkdir(parents=True)
        path.write_text("")
        for owned in (path.parent, path):
            os.chown(owned, *[ordinary.get("user", os.geteuid())] * 2)
    try:
        replica.supervise(UV_CACHE_DIR=str(modules[2].parent))
    finally:
        replica.close()
    if replica.api.events("ISOLATION")[1:]:
        pytest.skip(replica.api.events("ISOLATION")[1])
    assert replica.api.lines() == ["Read-only file system"] * 3


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("isolation", ["auto", *mode_selection.CONTAINMENT_MODES])
def test_each_containment_mode_keeps_its_word_or_says_why_it_cannot(
    ordinary: dict[str, Any], isolation: str, *, loaded: bool
) -> None:
    word = f"footplate-test-{uuid.uuid4().hex}"
    task = python_task(CODE, word)
    task["program"]["argv"][0] = ordinary.get("python", sys.executable)
    replica = Supervised(task=task, isolation=isolation, loaded=loaded, **ordinary)
    try:
        end = replica.supervise()
    finally:
        replica.close()
    if end["kind"] == "UNPREPARED":
        assert isolation in ("cgroup", "namespace")
        assert isolation in end["cause"]
        return
    user = ordinary.get("user", os.geteuid())
    assert (end["kind"], end["code"]) == ("EXITED", 0), replica.api.lines("stderr")
    assert replica.api.lines()[0].startswith(f"{user} [")
    if isolation != "best-effort":
        assert not find_living(word)
    for pid in find_living(word):
        os.kill(pid, 9)
    wait_until(lambda: not find_living(word), "the end of the test's processes")
