"""Real engines with an image of this machine's Python, each shared by all tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.testing.service import running_service
from tests.e2e.containers.container_context import IMAGE, ContainerContext, Engine
from tests.e2e.service.conftest import CACHE
from tests.support.engines import make_python_image, private_dockerd, private_podman
from tests.support.engines.requirements import require_engine


@pytest.fixture(scope="session")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    require_engine("podman")
    with private_podman(tmp_path_factory.mktemp("podman") / "engine") as engine:
        make_python_image(engine.socket, IMAGE)
        yield Engine(engine, "podman")


@pytest.fixture(scope="module")
def podman_with_crun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    require_engine("crun")
    directory = tmp_path_factory.mktemp("podman-crun") / "engine"
    with private_podman(directory, runtime="crun") as engine:
        make_python_image(engine.socket, IMAGE)
        yield Engine(engine, "podman with crun")


@pytest.fixture(scope="session")
def dockerd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    require_engine("docker")
    with private_dockerd(tmp_path_factory.mktemp("docker") / "engine") as engine:
        make_python_image(engine.socket, IMAGE)
        yield Engine(engine, "docker")


@pytest.fixture
def context(podman: Engine, tmp_path: Path) -> Iterator[ContainerContext]:
    """A service of the test's own."""
    settings = {"stop_grace_s": 1, "container_engine": podman.socket}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        found = ContainerContext(service, podman)
        yield found
    found.check_nothing_is_left()


@pytest.fixture(scope="session")
def shared_service(
    podman: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ContainerContext]:
    settings = {"stop_grace_s": 1, "container_engine": podman.socket}
    data = tmp_path_factory.mktemp("containers") / "data"
    with running_service(data, CACHE, **settings) as service:
        yield ContainerContext(service, podman)


@pytest.fixture
def shared(shared_service: ContainerContext) -> Iterator[ContainerContext]:
    """A service that goes on: for tests that end their own jobs."""
    yield shared_service
    shared_service.check_nothing_is_left()


@pytest.fixture(scope="session")
def docker_service(
    dockerd: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ContainerContext]:
    settings = {"stop_grace_s": 1, "container_engine": dockerd.socket}
    data = tmp_path_factory.mktemp("containers-docker") / "data"
    with running_service(data, CACHE, **settings) as service:
        yield ContainerContext(service, dockerd)


@pytest.fixture(params=["podman", "docker"])
def each(request: pytest.FixtureRequest) -> Iterator[ContainerContext]:
    """A service that goes on, with either engine."""
    name = {"podman": "shared_service", "docker": "docker_service"}[request.param]
    found = request.getfixturevalue(name)
    assert isinstance(found, ContainerContext)
    yield found
    found.check_nothing_is_left()
