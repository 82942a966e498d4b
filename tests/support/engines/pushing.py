"""Puts images into a registry without an engine: of any size and architecture, in a moment."""

from __future__ import annotations

import hashlib
import json
import tarfile
from typing import IO, TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.support.engines.registry import PrivateRegistry

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar"
_CHUNK = 1 << 20


def push_image(
    registry: PrivateRegistry,
    repository: str,
    sizes: Sequence[int],
    *,
    architecture: str = "amd64",
    listed: bool = False,
    login: tuple[str, str] | None = None,
) -> str:
    """An image of files of zeros, one a layer, of so many bytes; returns its name.

    ``listed``: as the one entry of a list of architectures. Its tag is the architecture.
    """
    with _client(registry, repository, login) as client:
        layers = [_push_layer(client, number, size) for number, size in enumerate(sizes)]
        settings = {"Cmd": ["/nothing"]}
        _push_configured(client, architecture, layers, settings, architecture, listed=listed)
    return f"{registry.host}/{repository}:{architecture}"


def push_archive(
    registry: PrivateRegistry,
    repository: str,
    archive: IO[bytes],
    settings: Mapping[str, object],
    *,
    tag: str = "1",
    login: tuple[str, str] | None = None,
) -> str:
    """An image of the files in a tar archive; returns its name.

    ``settings`` are those of a Dockerfile: ``Entrypoint``, ``Cmd``, ``Env``, ``User``.
    """
    content = archive.read()
    digest = _digest(content)
    with _client(registry, repository, login) as client:
        _upload(client, digest, iter((content,)))
        layers = [_described(_LAYER, digest, len(content))]
        _push_configured(client, tag, layers, settings, "amd64", listed=False)
    return f"{registry.host}/{repository}:{tag}"


def _client(
    registry: PrivateRegistry, repository: str, login: tuple[str, str] | None
) -> httpx.Client:
    url = f"http://{registry.host}/v2/{repository}"
    return httpx.Client(base_url=url, auth=login, timeout=120, trust_env=False)


def _push_configured(
    client: httpx.Client,
    tag: str,
    layers: list[dict[str, object]],
    settings: Mapping[str, object],
    architecture: str,
    *,
    listed: bool,
) -> None:
    diffs = [layer["digest"] for layer in layers]
    config: dict[str, object] = {"architecture": architecture, "os": "linux"}
    config["config"] = dict(settings)
    config["rootfs"] = {"type": "layers", "diff_ids": diffs}
    content = json.dumps(config).encode()
    described = _described(_CONFIG, _digest(content), len(content))
    _upload(client, described["digest"], iter((content,)))
    manifest: dict[str, object] = {"schemaVersion": 2, "mediaType": _MANIFEST}
    manifest.update({"config": described, "layers": layers})
    _push_manifest(client, tag, manifest, listed=listed)


def _push_layer(client: httpx.Client, number: int, size: int) -> dict[str, object]:
    digest = hashlib.sha256()
    length = 0
    for chunk in _layer(number, size):
        digest.update(chunk)
        length += len(chunk)
    name = f"sha256:{digest.hexdigest()}"
    _upload(client, name, _layer(number, size))
    return _described(_LAYER, name, length)


def _layer(number: int, size: int) -> Iterator[bytes]:
    info = tarfile.TarInfo(f"file{number}")
    info.size = size
    yield info.tobuf()
    padded = size + -size % 512 + 1024
    for start in range(0, padded, _CHUNK):
        yield bytes(min(_CHUNK, padded - start))


def _upload(client: httpx.Client, digest: object, content: Iterator[bytes]) -> None:
    begun = client.post("/blobs/uploads/").raise_for_status()
    place = httpx.URL(begun.headers["location"]).copy_merge_params({"digest": str(digest)})
    client.put(place, content=content).raise_for_status()


def _push_manifest(
    client: httpx.Client, tag: str, manifest: dict[str, object], *, listed: bool
) -> None:
    content = json.dumps(manifest).encode()
    if listed:
        digest = _digest(content)
        headers = {"Content-Type": _MANIFEST}
        client.put(f"/manifests/{digest}", content=content, headers=headers).raise_for_status()
        entry = {**_described(_MANIFEST, digest, len(content))}
        entry["platform"] = {"architecture": tag, "os": "linux"}
        document = {"schemaVersion": 2, "mediaType": _LIST, "manifests": [entry]}
        content = json.dumps(document).encode()
    headers = {"Content-Type": _LIST if listed else _MANIFEST}
    client.put(f"/manifests/{tag}", content=content, headers=headers).raise_for_status()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _described(kind: str, digest: str, size: int) -> dict[str, object]:
    return {"mediaType": kind, "digest": digest, "size": size}
