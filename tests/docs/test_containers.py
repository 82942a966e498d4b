"""The tutorial on containers, typed out against an engine of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.walk import ROOT, type_out
from tests.support.engines import make_python_image, private_dockerd, private_podman
from tests.support.engines.requirements import require_docker_command, require_engine

TUTORIAL = ROOT / "docs" / "tutorials" / "containers.md"
ENGINES = {"podman": private_podman, "docker": private_dockerd}
BASE = "python:3.12-slim"
BUILD = "$ docker build "


@pytest.mark.parametrize("kind", ENGINES)
def test_a_user_of_containers_types_it(kind: str, tmp_path: Path) -> None:
    """Where the image that it begins with is there already, with another Python in it."""
    require_engine(kind)
    require_docker_command()
    page = TUTORIAL.read_text("utf-8")
    assert f"FROM {BASE}\n" in page
    assert BUILD in page
    folder = tmp_path / "empty"
    folder.mkdir()
    with ENGINES[kind](tmp_path / "engine") as engine:
        make_python_image(engine.socket, BASE)
        type_out(page.replace(BUILD, f"{BUILD}--network=host "), folder, DOCKER_HOST=engine.url)
