"""Pulls of a node: names, credentials, and what the engine answers."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from footplate.replica.container.node_pull import (
    PullFailed,
    find_credentials,
    make_headers,
    pull,
    registry_of,
    split,
)
from tests.support.engine_api import RecordingEngine, recording_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGEST = f"sha256:{'a' * 64}"
HUB = "https://index.docker.io/v1/"


@pytest.fixture
def engine() -> Iterator[RecordingEngine]:
    with tempfile.TemporaryDirectory() as folder, recording_engine(Path(folder)) as found:
        yield found


@pytest.mark.parametrize(
    ("name", "parts", "registry"),
    [
        ("python", ("python", "latest"), HUB),
        ("team/x:1", ("team/x", "1"), HUB),
        ("docker.io/team/x:1", ("docker.io/team/x", "1"), HUB),
        ("localhost:5000/x", ("localhost:5000/x", "latest"), "localhost:5000"),
        (f"gcr.io/t/x@{DIGEST}", ("gcr.io/t/x", DIGEST), "gcr.io"),
        (f"gcr.io/t/x:1@{DIGEST}", ("gcr.io/t/x", DIGEST), "gcr.io"),
    ],
)
def test_the_parts_of_a_name(name: str, parts: tuple[str, str], registry: str) -> None:
    assert split(name) == parts
    assert registry_of(name) == registry


def test_a_pull_says_how_far_it_is_and_sends_credentials(
    engine: RecordingEngine, tmp_path: Path
) -> None:
    engine.answers["/images/create"] = [
        {"id": "a", "status": "Pulling fs layer"},
        {"id": "a", "status": "Pull complete"},
    ]
    write_config(tmp_path, auths={"gcr.io": {"auth": base64.b64encode(b"ada:s3cret").decode()}})
    said: list[str] = []

    pull(engine.socket, "gcr.io/t/x:1", {"DOCKER_CONFIG": str(tmp_path)}, said.append)

    (asked,) = engine.posts
    assert asked.query == {"fromImage": "gcr.io/t/x", "tag": "1"}
    sent = json.loads(base64.urlsafe_b64decode(asked.headers["X-Registry-Auth"]))
    assert sent == {"username": "ada", "password": "s3cret", "serveraddress": "gcr.io"}
    assert said[0] == "pulls gcr.io/t/x:1"


def test_why_the_engine_does_not_pull(engine: RecordingEngine, tmp_path: Path) -> None:
    engine.answers["/images/create"] = [{"error": "manifest unknown"}]
    with pytest.raises(PullFailed, match="manifest unknown"):
        pull(engine.socket, "gcr.io/t/x:1", {"HOME": str(tmp_path)}, lambda _: None)
    with pytest.raises(PullFailed, match=r"the pull of .* failed"):
        pull(str(tmp_path / "no.sock"), "gcr.io/t/x:1", {"HOME": str(tmp_path)}, lambda _: None)


def test_credentials_of_a_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = tmp_path / "docker-credential-fake"
    helper.write_text(
        '#!/bin/sh\nread server\nprintf %s \'{"Username": "<token>", "Secret": "t"}\'\n'
    )
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    write_config(tmp_path, credHelpers={"gcr.io": "fake"})
    environment = {"DOCKER_CONFIG": str(tmp_path), "HOME": str(tmp_path / "nobody")}

    assert find_credentials("gcr.io", environment) == {
        "identitytoken": "t",
        "serveraddress": "gcr.io",
    }
    assert find_credentials("quay.io", environment) == {}
    assert make_headers({}) == {}


def test_a_helper_that_is_missing_is_named(tmp_path: Path) -> None:
    write_config(tmp_path, credsStore="nowhere")
    with pytest.raises(PullFailed, match="docker-credential-nowhere fails"):
        find_credentials("gcr.io", {"DOCKER_CONFIG": str(tmp_path)})


def write_config(folder: Path, **content: object) -> None:
    (folder / "config.json").write_text(json.dumps(content))
