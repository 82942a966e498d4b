"""The first program of a launcher, in a process of its own, on a node that has the archive."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest

from footplate.protocol.launcher import TITLE_ROOM
from footplate.replica.launcher import bootstrap
from footplate.replica.supervisor_archive import build_archive
from tests.support.interpreters import find_interpreters, version_of
from tests.support.local_backend import wait_until

LIMIT_S = 60


def words_of(pid: int) -> list[str]:
    words = Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0 ").split("\0")
    return [Path(words[0]).name[:6], *words[1:]]


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def write_program(scratch: Path) -> str:
    """The first program of a launcher whose server isn't there, on a node with the archive."""
    archives = scratch / "archives"
    archives.mkdir(parents=True)
    scratch.chmod(0o700)
    build_archive(scratch.parent).rename(archives / "digest.pyz")
    config = {
        "url": "http://127.0.0.1:1",
        "authority": "",
        "lease_s": 600,
        "archive": "digest",
        "supervisor": "digest",
        "bytecode": MAGIC_NUMBER.hex(),
        "scratch": str(scratch),
        "rank_variable": "FOOTPLATE_RANK",
        "job_variable": "FOOTPLATE_JOB",
        "node_variable": "FOOTPLATE_NODE",
        "replicas": [{"replica": "master-0", "directory": "attempt.master-0.1", "token": "token"}],
    }
    source = Path(bootstrap.__file__).read_text()
    return f"{source}\nmain(json.loads({json.dumps(config)!r}))\n"


@pytest.mark.parametrize("python", find_interpreters(), ids=version_of)
@pytest.mark.parametrize("room", [TITLE_ROOM, ""], ids=["room", "no room"])
def test_it_becomes_the_launcher_with_its_command_line(
    tmp_path: Path, python: str, room: str
) -> None:
    scratch = tmp_path / "scratch"
    source = write_program(scratch)
    process = subprocess.Popen(
        [python, "-I", "-S", "-", *([room] if room else [])],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"FOOTPLATE_RANK": "0", "FOOTPLATE_JOB": "7"},
        text=True,
    )
    assert process.stdin is not None
    with process.stdin as program:
        program.write(source)
    own = scratch / "launchers" / "attempt.master-0.1"
    try:
        wait_until((own / "server.json").exists)  # the launcher serves its node
        flags, (archive, *words) = words_of(process.pid)[1:3], words_of(process.pid)[3:]
        assert (flags, words) == (["-I", "-S"], ["launch", str(own)])
        assert Path(archive).parent == scratch / "archives"
        executed = bootstrap.ROOM in Path(f"/proc/{process.pid}/cmdline").read_text()
        assert executed == (not room), "with room no other interpreter starts"
        (launcher,) = children_of(process.pid)
        assert words_of(launcher) == words_of(process.pid)
        wait_until(lambda: [words_of(each)[4:5] for each in children_of(launcher)] == [["prepare"]])
        assert Path(f"/proc/{process.pid}/fd/0").readlink() == Path("/dev/null")
    finally:
        process.terminate()
    assert process.wait(LIMIT_S) == 0
    assert not own.exists()


def test_it_becomes_the_launcher_in_the_place_that_ray_gave_it(tmp_path: Path) -> None:
    """Below a process that passes on the signals of Ray."""
    scratch = tmp_path / "scratch"
    (tmp_path / "program.py").write_text(write_program(scratch))
    alone = resources.files("footplate") / "backends" / "ray" / "alone.py"
    command = [sys.executable, "-I", "-S", str(alone), "job-7", TITLE_ROOM]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    own = scratch / "launchers" / "attempt.master-0.1"
    try:
        wait_until((own / "server.json").exists)
        (parent,) = children_of(process.pid)
        assert words_of(parent)[4:] == ["launch", str(own)]
        assert words_of(process.pid)[3:] == [str(alone), "job-7"]
        assert json.loads((own / "launcher.json").read_text())["job"] == "job-7"
    finally:
        process.terminate()
    assert process.wait(LIMIT_S) == 0
    assert not own.exists()
