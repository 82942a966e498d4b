"""A hostile package gets nothing from a whole service: neither its program, its setup.py nor a
shell beside it.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.replica.isolation import levels
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.hostile import program, shared_files
from tests.support.forked_process import run_footplate

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="is about what root starts"
)
SOURCE = Path(program.__file__).read_text(encoding="utf-8")
SETUP = """
import json, sys
from setuptools import find_packages, setup
sys.argv[1:], words = [], sys.argv[1:]
attacker = {{"__name__": "attacker"}}
exec({source!r}, attacker)
got = attacker["run"]({facts!r})
sys.argv[1:] = words
told = "; ".join(name + " " + what for name, what in got.items() if what).replace("\\n", " ")
setup(name="trainer", version="0.1.0", packages=find_packages(), description=told)
"""
TASK = """
import importlib.metadata, json, os, time
attacker = {{"__name__": "attacker"}}
exec({source!r}, attacker)
print(json.dumps(attacker["run"]({facts!r})), flush=True)
print(importlib.metadata.metadata("trainer")["Summary"] or "", flush=True)
while not os.path.exists({end!r}):
    time.sleep(0.05)
"""
BUILDS_OWN = frozenset({"write_beside_the_working_directory"})
"""A build lies in a directory of its own."""


@pytest.fixture(params=["auto", "best-effort"])
def context(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Context]:
    with running_service(tmp_path / "data", CACHE, isolation=request.param) as service:
        yield Context(service)


@pytest.fixture
def shared() -> Iterator[list[str]]:
    with shared_files.planted() as files:
        yield files


def tell_isolation(context: Context, name: TrainingJobName) -> str:
    with context.client() as client:
        events = list(client.events(name))
    return " ".join(event.message for event in events if event.kind == "ISOLATION")


def attack_by_shell(context: Context, name: TrainingJobName, facts: dict[str, Any]) -> str:
    """What the program prints that the user of a shell runs."""
    (context.bucket / "attack.py").write_text(SOURCE)
    shell = shlex.join(["python", str(context.bucket / "attack.py"), json.dumps(facts)])
    options = ("ai-platform", "jobs", "ssh", name.job_id, "--command", shell)
    done = run_footplate(*options, env=context.service.environment())
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_of_a_package_gets_anything(context: Context, shared: list[str]) -> None:
    data = context.service.data_dir
    end = context.bucket / "end"
    facts = {
        "data": str(data),
        "secrets": [str(data / name) for name in ("secret", "footplate.db", "server.json")],
        "environment": str(CACHE / "runtimes"),
        "buckets": str(data / "buckets"),
        "shared": shared,
        "alone": True,  # the installer of a build, too, has its user
        "unique": secrets.token_hex(8),  # what was built before isn't built again
    }
    sources = {"source": SOURCE, "facts": facts, "end": str(end)}
    name = context.submit(
        TASK.format(**sources), setup=SETUP.format(**sources), enableWebAccess=True
    )
    context.until(lambda: len(context.messages(name)) > 1 or context.job(name).state.terminal)
    by_program, by_build = [*context.messages(name), "", ""][:2]
    by_shell = attack_by_shell(context, name, facts)
    end.touch()
    job = context.wait_for(name)
    assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
    said = tell_isolation(context, name)
    assert "the program runs as user" in said
    if "runs as root" in said or "aren't hidden" in said:  # a guarantee that isn't to be had here
        return
    expected = set() if levels.SEES_OWN in said else {"see_command_lines"}
    for printed in (by_program, by_shell):
        found = {attempt: got for attempt, got in json.loads(printed).items() if got}
        assert found.keys() <= expected, found
    got = {part.split(" ")[0]: part for part in by_build.split("; ") if part}
    assert got.keys() == BUILDS_OWN, got
