"""Guards of containers on real engines: they end a container whose supervisor was killed."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from footplate.containers.engine_api import Engine as EngineApi
from footplate.containers.leftovers import HOME_LABEL, SERVICE_LABEL
from footplate.replica.container.guard_container import compose_guard
from footplate.replica.container.guard_start import Guard, NoGuard, guard_name, start_guard
from footplate.replica.supervisor_archive import build_archive
from tests.e2e.containers.container_context import IMAGE, Engine
from tests.support.supervisor_process import wait_until

PROGRAM = "program-of-a-test"
MADE_BY_ENGINES = {"dev", "etc", "proc", "run", "sys", ".dockerenv"}
MADE_IN_ETC = {"hosts", "hostname", "resolv.conf", "mtab", "passwd", "group"}


@pytest.fixture(params=["podman", "dockerd"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Engine)
    yield found
    wait_until(lambda: not found.containers(), "the removal of all containers")
    assert found.volumes() == []


def compose_program(home: Path) -> dict[str, Any]:
    return {
        "Image": IMAGE,
        "Entrypoint": ["python3"],
        "Cmd": ["-c", "import time; time.sleep(600)"],
        "Labels": {SERVICE_LABEL: "a-service", HOME_LABEL: str(home)},
        "HostConfig": {"NetworkMode": "host"},
    }


def begin(
    engine: Engine, home: Path, program: dict[str, Any], archive: Path | None = None
) -> tuple[EngineApi, Guard]:
    api, archive = EngineApi(engine.socket), archive or build_archive(home / "archive")
    spec = compose_guard(program, PROGRAM, engine.socket, str(home), str(archive), api.identify())
    return api, start_guard(api, PROGRAM, spec)


@contextmanager
def supervised(home: Path) -> Iterator[None]:
    """As long as a supervisor would hold its lock."""
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_container_goes_with_its_supervisor(engine: Engine, tmp_path: Path) -> None:
    program = compose_program(tmp_path)
    with supervised(tmp_path):
        api, guard = begin(engine, tmp_path, program)
        api.create(PROGRAM, program)
        api.start(PROGRAM)
        assert {each["State"] for each in engine.containers()} == {"running"}
    wait_until(lambda: not engine.containers(), "the end of the container and its guard")
    assert guard.has_ended()
    guard.close()


def test_the_end_of_a_guard_is_seen(engine: Engine, tmp_path: Path) -> None:
    with supervised(tmp_path):
        api, guard = begin(engine, tmp_path, compose_program(tmp_path))
        api.signal(guard_name(PROGRAM), "KILL")
        assert guard.has_ended()
        guard.close()


def test_nothing_of_an_image_is_in_a_guard(engine: Engine, tmp_path: Path) -> None:
    """Its root holds the mounts of the guard, and what engines make themselves."""
    with supervised(tmp_path):
        api, guard = begin(engine, tmp_path, compose_program(tmp_path))
        pid = api.inspect(guard_name(PROGRAM))["State"]["Pid"]
        root = Path(f"/proc/{pid}/root")
        assert {path.name for path in root.iterdir()} <= MADE_BY_ENGINES | {"footplate"}
        assert {path.name for path in (root / "etc").iterdir()} <= MADE_IN_ETC
        api.signal(guard_name(PROGRAM), "KILL")
        guard.close()


def test_a_guard_that_cannot_start_says_why(engine: Engine, tmp_path: Path) -> None:
    archive = tmp_path / "supervisor.pyz"
    archive.write_text("raise SystemExit('not today')")
    with supervised(tmp_path), pytest.raises(NoGuard, match="not today"):
        begin(engine, tmp_path, compose_program(tmp_path), archive)
