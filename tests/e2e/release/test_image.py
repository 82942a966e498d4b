"""The image of ``deploy/Containerfile``, and the compose file that runs it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.support import ROOT
from tests.support.chart_images import SERVICE, build_service, podman
from tests.support.engines import private_podman
from tests.support.engines.requirements import require_engine
from tests.support.supervisor_process import wait_until

if TYPE_CHECKING:
    from tests.support.engines.engine import PrivateEngine

TOKEN = "a-token-of-many-characters"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateEngine]:
    require_engine("podman")
    folder = tmp_path_factory.mktemp("image")
    work = folder / "work"
    work.mkdir()
    with private_podman(folder / "podman") as engine:
        build_service(engine, work)
        yield engine


def test_what_the_image_says_of_itself(engine: PrivateEngine) -> None:
    (image,) = json.loads(podman(engine, "image", "inspect", SERVICE))

    labels = image["Labels"]
    assert labels["org.opencontainers.image.title"] == "Footplate"
    assert labels["org.opencontainers.image.version"] == "1.0"
    assert image["User"] == "1000:1000"
    read = ("run", "--rm", "--network=none", "--entrypoint=cat", SERVICE)
    components = json.loads(podman(engine, *read, "/opt/footplate/sbom.cdx.json"))["components"]
    names = {component["name"] for component in components}
    assert {"footplate", "starlette", "kubernetes", "psycopg"} <= names
    assert "cyclonedx-bom" not in names


def test_the_service_gets_healthy(engine: PrivateEngine) -> None:
    """As compose runs it: for every address, with a token, as an ordinary user."""
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    service = compose["services"]["footplate"]
    variables = {**service["environment"], "FOOTPLATE_TOKEN": TOKEN}
    options = [f"--env={name}={value}" for name, value in variables.items()]
    start = ("run", "--detach", "--network=none", "--name=footplate", *options, SERVICE)
    podman(engine, *start, *service["command"])
    try:
        wait_until(lambda: "unhealthy" not in check_health(engine), "the service is healthy", 120)
        said = podman(engine, "exec", "footplate", "footplate", "status")
        assert "none active" in said
    finally:
        podman(engine, "rm", "--force", "--time=20", "footplate")


def check_health(engine: PrivateEngine) -> str:
    """Runs the check of the image, as an engine does by itself."""
    try:
        return podman(engine, "healthcheck", "run", "footplate")
    except AssertionError as error:
        return f"unhealthy: {error}"
