"""Containers of replicas that are gone are removed, and no others."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from footplate.containers.discovery import FoundEngine
from footplate.server.container_engine import OrphanedContainers
from tests.support.engines import (
    PrivateEngine,
    make_python_image,
    private_dockerd,
    private_podman,
)
from tests.support.engines.requirements import require_engine

ENGINES: dict[str, Callable[[Path], AbstractContextManager[PrivateEngine]]] = {
    "podman": private_podman,
    "docker": private_dockerd,
}


def run(engine: PrivateEngine, home: Path | None, service: str = "mine") -> str:
    """A container that sleeps, with an anonymous volume."""
    labels = {"io.footplate.service": service}
    if home is not None:
        labels["io.footplate.home"] = str(home)
    with engine.client() as client:
        config = client.create_host_config(network_mode="none")
        made = client.create_container(
            "python-for-tests", ["sleep", "1000"], labels=labels, volumes=["/data"],
            host_config=config,
        )  # fmt: skip
        client.start(made["Id"])
    return str(made["Id"])


@pytest.mark.parametrize("kind", ENGINES)
def test_containers_of_ended_replicas_are_removed(kind: str, tmp_path: Path) -> None:
    require_engine(kind)
    living, ended = tmp_path / "living", tmp_path / "ended"
    living.mkdir()
    ended.mkdir()
    (ended / "gone").touch()
    with ENGINES[kind](tmp_path / "engine") as engine:
        make_python_image(engine.socket, "python-for-tests")
        kept = {
            run(engine, living),
            run(engine, None),
            run(engine, tmp_path / "nothing", service="another"),
        }
        run(engine, ended)
        run(engine, tmp_path / "nothing")
        (tmp_path / "marker").touch()
        found = FoundEngine(str(engine.socket))
        leftovers = OrphanedContainers(lambda: found, "mine", tmp_path / "marker")
        leftovers.maintain()
        leftovers.maintain()
        with engine.client() as client:
            assert {c["Id"] for c in client.containers(all=True)} == kept
            assert len(client.volumes()["Volumes"]) == len(kept)


def test_an_engine_that_is_away_is_asked_again_later(tmp_path: Path) -> None:
    asked = []

    def find() -> FoundEngine:
        asked.append(True)
        return FoundEngine(str(tmp_path / "no.sock"))

    marker = tmp_path / "marker"
    leftovers = OrphanedContainers(find, "mine", marker)
    leftovers.maintain()
    assert not asked
    marker.touch()
    leftovers.maintain()
    leftovers.maintain()
    assert len(asked) == 2
