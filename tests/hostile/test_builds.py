"""A hostile build of an ordinary user's service gets nothing of the service, nor of others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.protocol.ticket import SupervisorTicket
from tests.hostile import program, shared_files
from tests.support.promised import make_promised

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="is about Linux")
SOURCE = Path(program.__file__).read_text(encoding="utf-8")
BUILD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.environment.build_isolation import isolate_build
home, ticket, source, facts = sys.argv[2:]
isolation = isolate_build(home, SupervisorTicket.decode(json.loads(ticket)), None, [sys.executable])
if isolation.view is None or not isolation.namespaced:
    sys.exit("no view or no process namespace")
reading, writing = os.pipe()
build = isolation.start([sys.executable, "-c", source, facts], dict(os.environ), writing)
os.close(writing)
with open(reading) as output:
    sys.stdout.write(output.read())
sys.exit(build.wait())
"""
OWN = frozenset({"write_beside_the_working_directory"})
"""It begins in the root directory of its view, which is its own."""


@pytest.fixture
def shared() -> Iterator[list[str]]:
    with shared_files.planted() as files:
        yield files


def test_a_build_gets_nothing(ordinary: dict[str, Any], shared: list[str]) -> None:
    data: Path = ordinary["directory"]
    home = data / "replicas" / "1" / "0"
    home.mkdir(parents=True)
    hidden = [data / "secret", data / "other" / "model", home / "ticket.json"]
    for path in hidden:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    for name in ("cache", "buckets/.footplate", "logs"):
        (data / name).mkdir(parents=True)
    user = ordinary.get("user")
    if user is not None:
        for path in (data, *data.rglob("*")):
            os.chown(path, user, user)
    facts = {
        "data": str(data),
        "secrets": [str(path) for path in hidden],
        "environment": sys.prefix,
        "buckets": str(data / "buckets"),
        "shared": shared,
    }
    ticket = SupervisorTicket(
        cache=str(data / "cache"),
        buckets=str(data / "buckets"),
        private=(str(data),),
        promised=make_promised(),
    )
    done = subprocess.run(
        [
            *(ordinary.get("python", sys.executable), "-c", BUILD, str(ordinary["archive"])),
            *(str(home), json.dumps(ticket.encode()), SOURCE, json.dumps(facts)),
        ],
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        env={"PATH": os.environ["PATH"]},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if "no view or no process namespace" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    got = {name for name, what in json.loads(done.stdout).items() if what}
    assert got <= OWN, done.stdout
