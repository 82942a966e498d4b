"""Builds an image from a context, and pushes it to the registry of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footplate.container_engine.engine_client import (
    EngineFailure,
    engine_client,
    is_podman,
    registry_headers,
    stream,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import docker

    from footplate.domain.image_reference import ImageReference

_LIBPOD_PUSH = "/v4.0.0/libpod/images/{}/push"


def build(socket: str, context: bytes, name: str, say: Callable[[str], None]) -> None:
    """``context``: a tar.gz with a Dockerfile; ``say`` gets each line of the build's output.

    Its commands have the network of this machine, so that they reach an index here.

    Raises EngineFailure: the sentence says why there is no such image.
    """
    with engine_client(socket) as client:
        params = {"t": name, "rm": "true", "networkmode": "host"}
        headers = {"Content-Type": "application/x-tar"}
        path = f"/v{client.api_version}/build"
        for event in stream(client, path, params, headers, context):
            _check(event, f"{name} does not build")
            for line in str(event.get("stream", "")).splitlines():
                if line.strip():
                    say(line)


def push(socket: str, reference: ImageReference, say: Callable[[str], None]) -> None:
    """Pushes the image, with the credentials of the Docker configuration, as pulls do.

    Raises EngineFailure.
    """
    with engine_client(socket) as client:
        headers, _ = registry_headers(reference)
        headers.setdefault("X-Registry-Auth", "e30=")  # engines want one: {}
        say(f"pushes {reference}")
        for event in _push(client, reference, headers):
            _check(event, f"{reference} can't be pushed")


def _push(
    client: docker.APIClient, reference: ImageReference, headers: dict[str, str]
) -> list[dict[str, Any]]:
    """Pushes it. Podman's Docker API can't be told to speak plain http; its own can."""
    if reference.on_loopback and is_podman(client):
        path, params = _LIBPOD_PUSH.format(reference), {"tlsVerify": "false"}
    else:
        path = f"/v{client.api_version}/images/{reference.name}/push"
        params = {"tag": reference.version}
    return list(stream(client, path, params, headers))


def _check(event: dict[str, Any], what: str) -> None:
    if error := event.get("error"):
        raise EngineFailure(f"{what}: {str(error).strip()}")
