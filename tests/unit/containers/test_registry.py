"""What a registry says of an image: one that asks for tokens, and hostile ones."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footplate.containers.registry import (
    UnknownImage,
    find_logins,
    read_image,
)
from tests.support.dripping_server import BODY, HEAD, drip
from tests.support.http_server import serve

LOGIN = ("ada", "secret")
SETTINGS = {"Entrypoint": ["/train"], "Env": ["A=1"], "User": "1000"}
INDEX = "application/vnd.oci.image.index.v1+json"


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


DEEP = b"[" * 100_000
"""More levels than Python reads."""


class Registry:
    """Of one image, ``team/model:1``."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.realm = ""
        self.tokens: list[str] = []
        self.good = "good"
        self.image = self.add({"config": {"digest": self.config("amd64")}})
        self.tag = self.image
        self.host = ""

    def config(self, architecture: str) -> str:
        return self.add({"architecture": architecture, "config": SETTINGS})

    def add(self, value: Any) -> str:
        content = json.dumps(value).encode()
        self.blobs[digest(content)] = content
        return digest(content)

    async def answer(self, request: Request) -> Response:
        if self.realm and request.headers.get("authorization") != f"Bearer {self.good}":
            challenge = f'Bearer realm="{self.realm}",service="tests",scope="any"'
            return Response(status_code=401, headers={"www-authenticate": challenge})
        version = request.path_params["version"]
        content = self.blobs.get(self.tag if version == "1" else version)
        return Response(status_code=404) if content is None else Response(content)

    async def token(self, request: Request) -> Response:
        if "authorization" not in request.headers:
            return Response(status_code=401)
        self.tokens.append(f"{request.query_params['scope']} {request.headers['authorization']}")
        return JSONResponse({"token": self.good})

    @property
    def app(self) -> Starlette:
        path = "/v2/team/model/{kind:str}/{version:str}"
        return Starlette(routes=[Route(path, self.answer), Route("/token", self.token)])


@pytest.fixture
def registry() -> Iterator[Registry]:
    found = Registry()
    with serve(found.app) as url:
        found.host = url.removeprefix("http://")
        yield found


def test_an_image_has_its_digest_and_its_settings(registry: Registry) -> None:
    found = read_image(f"{registry.host}/team/model:1", {})
    assert found.reference == f"{registry.host}/team/model@{registry.image}"
    assert (found.architecture, found.config) == ("amd64", SETTINGS)
    assert read_image(found.reference, {}) == found


def test_a_list_of_images_keeps_its_own_digest(registry: Registry) -> None:
    other = registry.add({"config": {"digest": registry.config("arm64")}})
    entries = [
        {"digest": other, "platform": {"os": "linux", "architecture": "arm64"}},
        {"digest": registry.image, "platform": {"os": "linux", "architecture": "amd64"}},
    ]
    registry.tag = registry.add({"mediaType": INDEX, "manifests": entries})
    found = read_image(f"{registry.host}/team/model:1", {})
    assert found.reference.endswith(registry.tag)
    assert (found.architecture, found.config) == ("", SETTINGS)


def test_a_token_is_asked_for_with_the_password(registry: Registry) -> None:
    registry.realm = f"http://{registry.host}/token"
    read_image(f"{registry.host}/team/model:1", {registry.host: LOGIN})
    packed = base64.b64encode(b"ada:secret").decode()
    assert registry.tokens == [f"repository:team/model:pull Basic {packed}"]


def test_an_image_that_is_not_there_is_named(registry: Registry) -> None:
    with pytest.raises(UnknownImage, match=r"has no image .*/team/model:2"):
        read_image(f"{registry.host}/team/model:2", {})


def test_other_bytes_than_the_digest_says_are_refused(registry: Registry) -> None:
    registry.blobs[registry.image] = b'{"config": {}}'
    with pytest.raises(UnknownImage, match="sends bytes that don't match"):
        read_image(f"{registry.host}/team/model@{registry.image}", {})


@pytest.mark.parametrize(
    "manifest",
    [
        {"config": {"digest": "../../../v2/other/blobs/x"}},
        {"config": 7},
        [],
        {"manifests": [{"digest": "sha256:0", "platform": {"os": "linux"}}]},
        {"manifests": [{"digest": "x", "platform": {"os": "windows"}}]},
    ],
)
def test_an_answer_without_sense_is_an_error_of_the_registry(
    registry: Registry, manifest: object
) -> None:
    registry.tag = registry.add(manifest)
    with pytest.raises(UnknownImage):
        read_image(f"{registry.host}/team/model:1", {})


def test_an_answer_of_many_levels_is_an_error_of_the_registry(registry: Registry) -> None:
    registry.tag = digest(DEEP)
    registry.blobs[registry.tag] = DEEP
    with pytest.raises(UnknownImage, match="can't be read"):
        read_image(f"{registry.host}/team/model:1", {})


def test_a_registry_that_sends_without_end_is_left(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("footplate.containers.registry.MAX_BYTES", 1000)
    registry.tag = registry.add({"long": "x" * 2000})
    with pytest.raises(UnknownImage, match="is larger than"):
        read_image(f"{registry.host}/team/model:1", {})


def test_a_token_without_end_is_left(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("footplate.containers.registry.MAX_BYTES", 1000)
    registry.realm, registry.good = f"http://{registry.host}/token", "x" * 2000
    login = {registry.host: ("user", "secret")}
    with pytest.raises(UnknownImage, match="is larger than"):
        read_image(f"{registry.host}/team/model:1", login)


@pytest.mark.parametrize("begin", [HEAD, BODY])
def test_a_registry_that_sends_a_byte_now_and_then_is_left(begin: bytes) -> None:
    with drip(begin) as host:
        late = f"{host} doesn't answer for .*: the whole answer took longer than 0.2 s"
        with pytest.raises(UnknownImage, match=late):
            read_image(f"{host}/team/model:1", {}, limit_s=0.2)


def test_a_registry_that_is_away_is_named() -> None:
    with pytest.raises(UnknownImage, match=r"127\.0\.0\.1:1 doesn't answer for"):
        read_image("127.0.0.1:1/team/model:1", {})


def test_passwords_are_those_of_pull_secrets() -> None:
    packed = base64.b64encode(b"ada:sec:ret").decode()
    one = {"https://index.docker.io/v1/": {"auth": packed}, "example.com": {"auth": "?"}}
    two = {"https://example.org/v2/": {"username": "bob", "password": "word"}}
    found = find_logins(["", "[]", json.dumps({"auths": one}), json.dumps({"auths": two})])
    assert found == {"docker.io": ("ada", "sec:ret"), "example.org": ("bob", "word")}
