"""Connects to an engine with the docker package, and classifies its failures."""

from __future__ import annotations

import json
import os
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import docker.auth
import requests
import urllib3
from docker.errors import APIError, DockerException

from footplate.container_engine.error_messages import Credentials

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.image_reference import ImageReference

CONNECT_TIMEOUT_S = 30
_GONE = (requests.exceptions.RequestException, urllib3.exceptions.HTTPError, OSError)


class EngineFailure(Exception):
    """The text is a sentence for users."""


@contextmanager
def engine_client(socket: str) -> Iterator[docker.APIClient]:
    """Raises EngineFailure, within the block too: the engine doesn't answer, or not any more."""
    try:
        client = docker.APIClient(
            base_url=f"unix://{socket}", version="auto", timeout=CONNECT_TIMEOUT_S
        )
    except (DockerException, *_GONE) as error:
        raise EngineFailure(f"the container engine at {socket} does not answer: {error}") from error
    try:
        yield client
    except APIError as error:
        raise EngineFailure(f"the container engine failed: {error.explanation or error}") from error
    except _GONE as error:
        raise EngineFailure(gone(socket)) from error
    finally:
        client.close()


def gone(socket: str) -> str:
    return f"the container engine at {socket} has ended, or no longer answers; start it again"


def is_podman(client: docker.APIClient) -> bool:
    components = client.version().get("Components") or ()
    return any("podman" in str(component.get("Name", "")).lower() for component in components)


def stream(
    client: docker.APIClient,
    path: str,
    params: dict[str, str],
    headers: dict[str, str],
    data: Any = None,  # Any: what requests takes as a body
) -> Iterator[dict[str, Any]]:
    """Yields the JSON objects that the engine answers, each as it comes; an error is one, too."""
    url = f"{client.base_url}{path}"
    timeout = (CONNECT_TIMEOUT_S, None)
    with client.post(
        url, params=params, headers=headers, data=data, stream=True, timeout=timeout
    ) as response:
        if response.status_code >= requests.codes.bad_request:
            yield {"error": _message(response)}
            return
        for line in response.iter_lines():
            if line.strip():
                yield json.loads(line)


def _message(response: requests.Response) -> str:
    try:
        return str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {response.status_code}: {response.text[:500]}"


def registry_headers(reference: ImageReference) -> tuple[dict[str, str], Credentials]:
    """Returns what the user's Docker configuration has for the registry: auths, helpers, stores.

    Raises:
        EngineFailure: the configuration, or a helper that it names, is broken.
    """
    folder = os.environ.get("DOCKER_CONFIG") or str(Path.home() / ".docker")
    config = str(Path(folder) / "config.json")
    try:
        with warnings.catch_warnings(action="error"):  # so it says that a helper is missing
            known = docker.auth.load_config(config if Path(config).exists() else None)
            found = known.resolve_authconfig(reference.registry)
    except (DockerException, OSError, ValueError, UserWarning) as error:
        raise EngineFailure(
            f"the server can't read credentials for {reference.registry} from {config}: {error}"
        ) from error
    if not found:
        return {}, Credentials(config)
    header = docker.auth.encode_header(found).decode()
    user = found.get("username") or found.get("Username") or "of a token"
    return {"X-Registry-Auth": header}, Credentials(config, str(user))
