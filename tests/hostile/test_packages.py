"""A hostile package gets nothing from a whole service: neither its program nor its setup.py."""

from __future__ import annotations

import json
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from footplate.domain.job_states import State
from footplate.replica.isolation import levels
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.hostile import program, shared_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.names import JobName

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
import importlib.metadata, json
attacker = {{"__name__": "attacker"}}
exec({source!r}, attacker)
print(json.dumps(attacker["run"]({facts!r})), flush=True)
print(importlib.metadata.metadata("trainer")["Summary"] or "", flush=True)
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


def tell_isolation(context: Context, name: JobName) -> str:
    with context.client() as client:
        events = list(client.events(name))
    return " ".join(event.message for event in events if event.kind == "ISOLATION")


def test_neither_program_nor_build_gets_anything(context: Context, shared: list[str]) -> None:
    data = context.service.data_dir
    facts = {
        "data": str(data),
        "secrets": [str(data / name) for name in ("secret", "footplate.db", "server.json")],
        "environment": str(CACHE / "runtimes"),
        "buckets": str(data / "buckets"),
        "shared": shared,
        "alone": True,  # the installer of a build, too, has its user
        "unique": secrets.token_hex(8),  # what was built before isn't built again
    }
    sources = {"source": SOURCE, "facts": facts}
    name = context.submit(TASK.format(**sources), setup=SETUP.format(**sources))
    job = context.wait_for(name)
    assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
    by_program, by_build = [*context.messages(name), ""][:2]
    said = tell_isolation(context, name)
    assert "the program runs as user" in said
    if "runs as root" in said or "aren't hidden" in said:  # a guarantee that isn't to be had here
        return
    found = {name: got for name, got in json.loads(by_program).items() if got}
    assert found.keys() <= (set() if levels.SEES_OWN in said else {"see_command_lines"}), found
    got = {part.split(" ")[0]: part for part in by_build.split("; ") if part}
    assert got.keys() == BUILDS_OWN, got
