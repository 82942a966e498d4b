"""What an engine is asked for a pull, a build and a push, and what its errors become."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footplate.containers.images import ImageFailure, build, pull, push
from footplate.domain.image_reference import parse_reference
from tests.support.engine_api import recording_engine


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    config = {"auths": {"registry.example:5000": {"auth": "YWRhOnMzY3JldA=="}}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    return {"DOCKER_CONFIG": str(tmp_path), "HOME": str(tmp_path)}


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_pull_says_how_far_it_is_and_sends_credentials(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with recording_engine(tmp_path) as engine:
        engine.answers["/images/create"] = [{"id": "a", "status": "Pull complete"}]
        pull(engine.socket, "registry.example:5000/x:1", str(tmp_path / "locks"), environment)
        pull(engine.socket, "other.example/x", str(tmp_path / "locks"), environment)

    known, unknown = engine.posts
    assert known.path == "/images/create"
    assert known.query == {"fromImage": "registry.example:5000/x", "tag": "1"}
    assert "X-Registry-Auth" in known.headers
    assert "X-Registry-Auth" not in unknown.headers
    assert printed(capsys)[0] == {"m": "pulls registry.example:5000/x:1"}


def test_why_an_engine_does_not_pull(tmp_path: Path, environment: dict[str, str]) -> None:
    locks = str(tmp_path / "locks")
    with recording_engine(tmp_path) as engine:
        engine.answers["/images/create"] = [{"error": "manifest unknown"}]
        with pytest.raises(ImageFailure, match=r"^gcr\.io has no image t/x:1; check the name"):
            pull(engine.socket, "gcr.io/t/x:1", locks, environment)
        with pytest.raises(ImageFailure, match=r"^'a b' names no image: it has a space$"):
            pull(engine.socket, "a b", locks, environment)
    with pytest.raises(ImageFailure, match=r"no\.sock has ended, or no longer answers"):
        pull(str(tmp_path / "no.sock"), "gcr.io/t/x:1", locks, environment)


def test_podman_pulls_over_plain_http_from_this_machine_by_its_own_api(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with recording_engine(tmp_path, "Libpod") as engine:
        said = "server gave HTTP response to HTTPS client"
        engine.answers["/images/create"] = [{"error": said}]
        pull(engine.socket, "127.0.0.1:5000/x:1", str(tmp_path / "locks"), environment)

    assert [asked.path for asked in engine.posts] == [
        "/images/create",
        "/v4.0.0/libpod/images/pull",
    ]
    assert engine.posts[1].query["tlsVerify"] == "false"


def test_a_build_tells_its_lines(tmp_path: Path) -> None:
    said: list[str] = []
    with recording_engine(tmp_path) as engine:
        engine.answers["/build"] = [{"stream": "Step 1/2\n"}, {"stream": "\n"}, {"stream": "ok"}]
        build(engine.socket, b"context", "trainer:1", said.append)

    [asked] = engine.posts
    assert asked.path == "/build"
    assert asked.query == {"t": "trainer:1", "rm": "true", "networkmode": "host"}
    assert asked.body == b"context"
    assert said == ["Step 1/2", "ok"]


def test_a_build_that_fails(tmp_path: Path) -> None:
    with recording_engine(tmp_path) as engine:
        engine.answers["/build"] = [{"stream": "Step 1/2"}, {"error": "pip ended with code 1\n"}]
        with pytest.raises(
            ImageFailure, match=r"^trainer:1 does not build: pip ended with code 1$"
        ):
            build(engine.socket, b"", "trainer:1", lambda _: None)


def test_an_image_is_pushed_with_the_users_credentials(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with recording_engine(tmp_path) as engine:
        push(
            engine.socket,
            parse_reference("registry.example:5000/team/x:2"),
            environment,
            lambda _: None,
        )
        push(engine.socket, parse_reference("other.example/team/x"), environment, lambda _: None)

    known, unknown = engine.posts
    assert known.path == "/images/registry.example:5000/team/x/push"
    assert known.query == {"tag": "2"}
    assert known.headers["X-Registry-Auth"] != unknown.headers["X-Registry-Auth"] == "e30="
    assert unknown.query == {"tag": "latest"}


def test_podman_pushes_over_plain_http_to_this_machine_by_its_own_api(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with recording_engine(tmp_path, "Libpod") as engine:
        push(engine.socket, parse_reference("127.0.0.1:5000/x:1"), environment, lambda _: None)

    [asked] = engine.posts
    assert asked.path == "/v4.0.0/libpod/images/127.0.0.1:5000/x:1/push"
    assert asked.query == {"tlsVerify": "false"}


def test_a_push_that_is_refused(tmp_path: Path, environment: dict[str, str]) -> None:
    with recording_engine(tmp_path) as engine:
        engine.answers["/push"] = [{"status": "preparing"}, {"error": "denied"}]
        with pytest.raises(ImageFailure, match=r"^other\.example/x:1 can't be pushed: denied$"):
            push(engine.socket, parse_reference("other.example/x:1"), environment, lambda _: None)
