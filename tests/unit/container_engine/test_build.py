"""What an engine is asked for a build and a push, and what its errors become."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from footplate.container_engine.build import build, push
from footplate.container_engine.engine_client import EngineFailure
from footplate.domain.image_reference import parse_reference
from tests.support.engine_api import recording_engine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"auths": {"registry.example:5000": {"auth": "YWRhOnMzY3JldA=="}}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))


def test_a_build_tells_its_lines(tmp_path: Path) -> None:
    said: list[str] = []
    with recording_engine(tmp_path) as engine:
        engine.answers["/build"] = [{"stream": "Step 1/2\n"}, {"stream": "\n"}, {"stream": "ok"}]
        build(engine.socket, b"context", "trainer:1", said.append)

    [asked] = engine.posts
    assert asked.path == "/v1.41/build"
    assert asked.query == {"t": "trainer:1", "rm": "true", "networkmode": "host"}
    assert asked.body == b"context"
    assert said == ["Step 1/2", "ok"]


def test_a_build_that_fails(tmp_path: Path) -> None:
    with recording_engine(tmp_path) as engine:
        engine.answers["/build"] = [{"stream": "Step 1/2"}, {"error": "pip ended with code 1\n"}]
        with pytest.raises(
            EngineFailure, match=r"^trainer:1 does not build: pip ended with code 1$"
        ):
            build(engine.socket, b"", "trainer:1", lambda _: None)


def test_an_image_is_pushed_with_the_users_credentials(tmp_path: Path) -> None:
    with recording_engine(tmp_path) as engine:
        push(engine.socket, parse_reference("registry.example:5000/team/x:2"), lambda _: None)
        push(engine.socket, parse_reference("other.example/team/x"), lambda _: None)

    known, unknown = engine.posts
    assert known.path == "/v1.41/images/registry.example:5000/team/x/push"
    assert known.query == {"tag": "2"}
    assert known.headers["X-Registry-Auth"] != unknown.headers["X-Registry-Auth"] == "e30="
    assert unknown.query == {"tag": "latest"}


def test_podman_pushes_over_plain_http_to_this_machine_by_its_own_api(tmp_path: Path) -> None:
    with recording_engine(tmp_path, "Podman Engine") as engine:
        push(engine.socket, parse_reference("127.0.0.1:5000/x:1"), lambda _: None)

    [asked] = engine.posts
    assert asked.path == "/v4.0.0/libpod/images/127.0.0.1:5000/x:1/push"
    assert asked.query == {"tlsVerify": "false"}


def test_a_push_that_is_refused(tmp_path: Path) -> None:
    with recording_engine(tmp_path) as engine:
        engine.answers["/push"] = [{"status": "preparing"}, {"error": "denied"}]
        with pytest.raises(EngineFailure, match=r"^other\.example/x:1 can't be pushed: denied$"):
            push(engine.socket, parse_reference("other.example/x:1"), lambda _: None)
