"""Credentials of Docker's and Podman's files, and of their helpers."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from footplate.containers.credentials import (
    Credentials,
    UnreadableCredentials,
    find_credentials,
)

LOGIN = {"auth": base64.b64encode(b"ada:s3cret").decode()}


def find(folder: Path, registry: str, **content: object) -> Credentials:
    (folder / "config.json").write_text(json.dumps(content))
    return find_credentials(registry, {"DOCKER_CONFIG": str(folder), "HOME": str(folder)})


def sent(found: Credentials) -> Any:
    name, _, packed = found.header.partition(": ")
    assert name == "X-Registry-Auth"
    return json.loads(base64.urlsafe_b64decode(packed))


@pytest.mark.parametrize(
    ("registry", "key", "address"),
    [
        ("gcr.io", "gcr.io", "gcr.io"),
        ("gcr.io", "https://gcr.io/v2/", "gcr.io"),
        ("127.0.0.1:5000", "127.0.0.1:5000", "127.0.0.1:5000"),
        ("docker.io", "https://index.docker.io/v1/", "https://index.docker.io/v1/"),
        ("docker.io", "docker.io", "https://index.docker.io/v1/"),
    ],
)
def test_a_login_is_found_by_its_registry(
    tmp_path: Path, registry: str, key: str, address: str
) -> None:
    found = find(tmp_path, registry, auths={"other.example": {}, key: LOGIN})
    assert sent(found) == {"username": "ada", "password": "s3cret", "serveraddress": address}
    assert (found.user, found.config) == ("ada", str(tmp_path / "config.json"))


def test_a_token_has_no_user(tmp_path: Path) -> None:
    found = find(tmp_path, "gcr.io", auths={"gcr.io": {"identitytoken": "t"}})
    assert sent(found) == {"identitytoken": "t", "serveraddress": "gcr.io"}
    assert found.user == "of a token"


def test_podmans_file_counts_too(tmp_path: Path) -> None:
    own = tmp_path / ".config" / "containers" / "auth.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps({"auths": {"quay.io": LOGIN}}))
    assert find(tmp_path, "quay.io", auths={"gcr.io": {}}).config == str(own)


def test_without_any_there_is_the_file_to_log_in(tmp_path: Path) -> None:
    found = find(tmp_path, "quay.io", auths={"gcr.io": LOGIN, "quay.io": {}})
    assert (sent(found), found.user) == ({}, None)
    assert found.config == str(tmp_path / "config.json")


@pytest.mark.parametrize("key", ["credHelpers", "credsStore"])
def test_credentials_of_a_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    add_helper(tmp_path, monkeypatch, 'printf %s \'{"Username": "<token>", "Secret": "t"}\'')
    found = find(
        tmp_path, "gcr.io", **{key: {"gcr.io": "fake"} if key == "credHelpers" else "fake"}
    )
    assert sent(found) == {"identitytoken": "t", "serveraddress": "gcr.io"}


def test_a_helper_that_knows_nothing_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_helper(tmp_path, monkeypatch, "echo credentials not found in native keychain; exit 1")
    assert find(tmp_path, "gcr.io", credsStore="fake", auths={"gcr.io": LOGIN}).user == "ada"


def test_a_helper_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_helper(tmp_path, monkeypatch, "echo log in again; exit 1")
    with pytest.raises(UnreadableCredentials, match="docker-credential-fake fails: log in again"):
        find(tmp_path, "gcr.io", credsStore="fake")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"credsStore": "nowhere"}, "docker-credential-nowhere"),
        ({"auths": {"gcr.io": {"auth": "no base64"}}}, ""),
        ({"auths": {"gcr.io": "odd"}}, ""),
    ],
)
def test_what_is_broken_is_named(tmp_path: Path, content: dict[str, object], said: str) -> None:
    with pytest.raises(
        UnreadableCredentials, match=rf"^credentials for gcr\.io can't be read from .*{said}"
    ):
        find(tmp_path, "gcr.io", **content)


def add_helper(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    helper = folder / "docker-credential-fake"
    helper.write_text(f"#!/bin/sh\nread server\n{command}\n")
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
