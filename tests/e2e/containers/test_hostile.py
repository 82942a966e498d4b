"""A hostile program in a container gets nothing, or what is inside of it; its limits hold."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.job_states import State
from footplate.testing.service import running_service
from tests.e2e.containers.container_context import IMAGE, ContainerContext, Engine
from tests.e2e.service.conftest import BUCKET, CACHE
from tests.hostile import program, shared_files
from tests.hostile.leftovers import LEAVE, Trace

SOURCE = Path(program.__file__).read_text(encoding="utf-8")
INSIDE = frozenset(
    (
        *("write_into_system_directories", "add_a_cron_file", "read_the_shadow"),
        *("write_the_home_of_root", "be_root", "change_groups", "have_capabilities"),
        *("change_an_environment", "link_to_secrets", "change_its_root", "list_the_service"),
        *("write_beside_the_working_directory", "raise_its_limits"),
    )
)
"""What the root of an image may do with the image's own files and processes."""
DUMPS = frozenset({"dump_core", "raise_its_limits"})
"""Podman can't be told a limit without others."""


UNMAPPED = "not guaranteed: users in the image have the ids of this machine's users, also root"
USERS = {
    "podman": f"{UNMAPPED}: runc can't, and crun can",
    "docker": (
        f"{UNMAPPED}: Docker can't map the users of a container that shares the machine's network"
    ),
    "podman with crun": (
        r"all users in the image, also root, run as the users \d+ to \d+ of this machine, "
        r"which have no rights"
    ),
}
"""By engine, how a job says whom its image's users are."""


def make_facts(context: ContainerContext, shared: list[str]) -> dict[str, Any]:
    data = context.service.data_dir
    names = ("secret", "footplate.db", "server.json")
    return {
        "data": str(data),
        "secrets": [str(data / name) for name in names],
        "environment": "/usr",
        "buckets": str(data / "buckets"),
        "shared": shared,
    }


@pytest.fixture
def shared() -> Iterator[list[str]]:
    with shared_files.planted() as files:
        yield files


def attack(context: ContainerContext, image: str, facts: dict[str, Any]) -> set[str]:
    name = context.run_custom("python3", "-c", SOURCE, json.dumps(facts), image=image)
    context.wait_for(name, State.SUCCEEDED)
    said, users = context.told(name, "ISOLATION")
    assert said.startswith("container: the container engine kills the container's processes")
    assert "not guaranteed: the container has the machine's network" in said
    assert re.fullmatch(USERS[context.engine.kind], users)
    got = context.said(name)
    assert set(got) == set(program.ATTEMPTS)
    got["have_capabilities"] = leave_out_unused(got["have_capabilities"])
    found = {attempt for attempt, what in got.items() if what}
    return found - DUMPS if "podman" in said.lower() else found


def leave_out_unused(capabilities: str) -> str:
    """No program gains those that it may only be given: ``no-new-privileges`` is set."""
    held = [each for each in capabilities.split(", ") if each[:6] not in ("CapBnd", "CapInh")]
    return ", ".join(held)


def test_a_program_gets_nothing(each: ContainerContext, shared: list[str]) -> None:
    """Of an image with a user of its own."""
    image = each.engine.derive("trainers/hostile:user", "USER trainer")
    try:
        got = attack(each, image, make_facts(each, shared))
    finally:
        remove(each.engine, image)
    assert got == set()


def test_root_of_an_image_gets_what_is_inside(each: ContainerContext, shared: list[str]) -> None:
    image = each.engine.derive("trainers/hostile:root", "USER root")
    try:
        got = attack(each, image, make_facts(each, shared))
    finally:
        remove(each.engine, image)
    assert got <= INSIDE


@pytest.fixture
def mapped(podman_with_crun: Engine, tmp_path: Path) -> Iterator[ContainerContext]:
    """A service whose engine maps the users of images."""
    settings = {"stop_grace_s": 1, "container_engine": podman_with_crun.socket}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        context = ContainerContext(service, podman_with_crun)
        yield context
        context.check_nothing_is_left()


def test_root_of_an_image_is_nobody_outside(mapped: ContainerContext, shared: list[str]) -> None:
    image = mapped.engine.derive("trainers/hostile:root", "USER root")
    assert attack(mapped, image, make_facts(mapped, shared)) <= INSIDE

    name = mapped.run_custom("python3", "-c", SHOW_USER, image=image)
    mapped.wait_for(name, State.SUCCEEDED)
    uid, outside, count = (int(word) for word in mapped.messages(name)[0].split())
    assert (uid, count) == (0, 65536)
    assert mapped.told(name, "ISOLATION")[1] == (
        f"all users in the image, also root, run as the users {outside} to {outside + 65535} "
        "of this machine, which have no rights"
    )
    written = mapped.service.data_dir / "buckets" / BUCKET / "by_root"
    assert written.stat().st_uid == 0

    user = mapped.engine.derive("trainers/hostile:user", "USER trainer")
    name = mapped.run_custom("python3", "-c", APPEND, image=user)
    mapped.wait_for(name, State.SUCCEEDED)
    assert written.with_name("by_user").read_text() == "1000\n"


SHOW_USER = f"""
import os
open("/gcs/{BUCKET}/by_root", "w").write("root")
print(os.getuid(), *open("/proc/self/uid_map").read().split()[1:])
"""
APPEND = f"""
import os
open("/gcs/{BUCKET}/by_user", "w").write(f"{{os.getuid()}}\\n")
"""


def remove(engine: Engine, image: str) -> None:
    with engine.running.client() as client:
        client.remove_image(image, force=True)


CATALOGUE = """
[machine_types.own-small]
family = "COMPUTE_ENGINE"
vcpus = 1
memory_gb = 1
"""


@pytest.fixture(params=["podman", "docker"])
def limited(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ContainerContext]:
    """A service that limits what programs use, though it reserves nothing."""
    engine = request.getfixturevalue({"podman": "podman", "docker": "dockerd"}[request.param])
    (tmp_path / "catalogue.toml").write_text(CATALOGUE)
    settings = {"stop_grace_s": 1, "limits": "on", "catalogue": tmp_path / "catalogue.toml"}
    with running_service(
        tmp_path / "data", CACHE, container_engine=engine.socket, **settings
    ) as service:
        context = ContainerContext(service, engine)
        yield context
    context.check_nothing_is_left()


def run_limited(context: ContainerContext, source: str, **fields: Any) -> Any:
    pool = {
        "containerSpec": {"imageUri": IMAGE, "command": ["python3", "-c", source]},
        "machineSpec": {"machineType": "own-small"},
        **fields,
    }
    return context.submit_custom(pool)


BOMB = """
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
"""


def test_a_bomb_ends_its_own_job_only(limited: ContainerContext) -> None:
    other = begin_another(limited)
    name = run_limited(limited, BOMB)
    message = limited.wait_for(name, State.FAILED).error_message
    assert "its limit is 1536: 1024 and 512 for its vCPU" in message
    assert limited.told(name, "LIMITS")[0] == (
        "at most 1 GB of memory and 1 vCPU, as own-small has; "
        "at most 1536 processes and 100 GB of disk (bootDiskSizeGb)"
    )
    end_another(limited, other)


FILL = """
import os, time
for path in ("model", "/tmp/model"):
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 5500 << 20)
print("written", flush=True)
time.sleep(600)
"""


def test_a_full_disk_ends_its_own_job_only(limited: ContainerContext) -> None:
    """What is in the working directory and in /tmp counts together."""
    if shutil.disk_usage(limited.service.data_dir).free < 40 << 30:
        pytest.skip("needs 40 GB of disk, of which it takes 12")
    other = begin_another(limited)
    name = run_limited(limited, FILL, diskSpec={"bootDiskSizeGb": 10})
    message = limited.wait_for(name, State.FAILED).error_message
    assert re.search(
        r"the program used 1[01]\.[0-9]+ GB of disk; its limit, bootDiskSizeGb, is 10 GB", message
    )
    assert limited.told(name, "LIMITS")[0].endswith("10 GB of disk (bootDiskSizeGb)")
    end_another(limited, other)


def begin_another(context: ContainerContext) -> Any:
    name = run_limited(context, "import time; print('up', flush=True); time.sleep(600)")
    context.until(lambda: context.messages(name) == ["up"])
    return name


def end_another(context: ContainerContext, name: Any) -> None:
    """It runs all the same."""
    assert context.job(name).state is State.RUNNING
    with context.client() as client:
        client.cancel(name)
    context.wait_for(name, State.CANCELLED)


def test_nothing_is_left_of_a_program(each: ContainerContext) -> None:
    trace = Trace()
    name = each.run_custom("python3", "-c", LEAVE, trace.word, str(trace.key))
    each.wait_for(name, State.SUCCEEDED)
    assert "left" in each.messages(name)
    assert trace.find_processes() == []
    assert trace.find_files() == []
    assert trace.find_segments() == []
    assert trace.find_entries() == []
