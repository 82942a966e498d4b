"""What a program sees of the service's own directories: what is its own there, and no more."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.supervisor_process import Supervised, python_task

Make = Callable[..., Supervised]

LOOK = """
import json, os, sys

def attempt(act):
    try:
        return act()
    except OSError as error:
        return error.strerror

data, other, home = sys.argv[1:]
told = {
    "listed": sorted(os.listdir(data)),
    "secret": attempt(lambda: open(f"{data}/secret").read()),
    "ticket": attempt(lambda: open(f"{home}/ticket.json").read()),
    "spool": attempt(lambda: os.listdir(f"{home}/spool")),
    "other": attempt(lambda: open(f"{other}/work/model").read()),
    "new": attempt(lambda: open(f"{data}/new", "w").write("x")),
    "archive": attempt(lambda: open(f"{data}/cache/supervisor.pyz", "w").write("x")),
    "cached": attempt(lambda: open(f"{data}/cache/supervisor.pyz").read()),
    "upload": attempt(lambda: open(f"{data}/buckets/.footplate/uploads/x", "w").write("x")),
    "gcs": attempt(lambda: os.symlink("/etc/passwd", "/gcs/.footplate/uploads/y")),
    "moved": attempt(lambda: os.rename("/gcs/.footplate", "/gcs/other")),
    "bucket": attempt(lambda: open(f"{data}/buckets/b/out", "w").write("x")),
    "work": attempt(lambda: open("own", "w").write("x")),
    "metrics": attempt(lambda: open(os.environ["CLOUD_ML_HP_METRIC_FILE"], "w").write("x")),
}
print(json.dumps(told))
"""
MISSING = "No such file or directory"
SEALED = "Read-only file system"


@pytest.fixture
def look(make_replica: Make) -> Callable[..., tuple[Supervised, dict[str, Any]]]:
    def run(containment_mode: str) -> tuple[Supervised, dict[str, Any]]:
        replica = make_replica(python_task(""), isolation=containment_mode)
        data, other = replica.directory, replica.directory / "other"
        (other / "work").mkdir(parents=True)
        (other / "work" / "model").write_text("theirs")
        (data / "secret").write_text("s")
        (data / "cache" / "supervisor.pyz").write_text("pyz")
        (data / "buckets" / "b").mkdir()
        (data / "buckets" / ".footplate" / "uploads").mkdir(parents=True)
        ticket = json.loads((replica.home / "ticket.json").read_text())
        (replica.home / "ticket.json").write_text(json.dumps({**ticket, "private": [str(data)]}))
        paths = [str(path) for path in (data, other, replica.home)]
        replica.api.task.update(python_task(LOOK, *paths))
        end = replica.supervise()
        if replica.api.events("ISOLATION")[1:]:
            pytest.skip(replica.api.events("ISOLATION")[1])
        assert end["code"] == 0, replica.api.lines("stderr")
        return replica, json.loads(replica.api.lines()[0])

    return run


@pytest.mark.skipif(sys.platform != "linux", reason="needs mount namespaces")
def test_a_program_sees_its_own_and_no_more(
    look: Callable[..., tuple[Supervised, dict[str, Any]]], containment_mode: str
) -> None:
    replica, told = look(containment_mode)
    assert told["listed"] == ["buckets", "cache", "home"]
    assert (told["secret"], told["ticket"], told["spool"], told["other"]) == (MISSING,) * 4
    assert (told["new"], told["archive"]) == (SEALED,) * 2
    assert told["cached"] == "pyz"
    assert (told["upload"], told["gcs"]) == (SEALED,) * 2
    assert told["moved"] in ("Device or resource busy", SEALED)
    assert (told["bucket"], told["work"], told["metrics"]) == (1, 1, 1)
    assert (replica.directory / "buckets" / "b" / "out").read_text() == "x"
    assert (replica.home / "work" / "own").read_text() == "x"
    assert (replica.home / "metrics" / "output.metrics").read_text() == "x"
