"""Pulls an image on a node, by the node's engine and with the credentials of its user there.

On the machine of the service ``footplate.container_engine`` does it, which a node doesn't have.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import subprocess
import time
from urllib.parse import urlencode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping

SILENCE_S = 1800.0
"""An engine that unpacks says nothing for so long at most."""
_HUB = "https://index.docker.io/v1/"
_HELPER_S = 60.0
_BETWEEN_S = 1.0


class PullFailed(Exception):
    """The message is for users."""


def pull(path: str, name: str, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
    """``path``: of the engine's socket. ``say`` is given progress. Raises PullFailed."""
    image, version = split(name)
    headers = make_headers(find_credentials(registry_of(name), environment))
    query = urlencode({"fromImage": image, "tag": version})
    connection = _UnixConnection(path)
    say(f"pulls {name}")
    try:
        connection.request("POST", f"/images/create?{query}", headers=headers)
        answer = connection.getresponse()
        if answer.status >= http.client.BAD_REQUEST:
            raise PullFailed(f"the engine can't pull {name}: {_message(answer.read())}")
        _follow(answer, name, say)
    except (OSError, http.client.HTTPException) as error:
        raise PullFailed(f"the pull of {name} failed: {str(error) or repr(error)}") from error
    finally:
        connection.close()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("engine", timeout=SILENCE_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SILENCE_S)
        self.sock.connect(self._path)


def _follow(answer: http.client.HTTPResponse, name: str, say: Callable[[str], None]) -> None:
    """Raises PullFailed, OSError."""
    layers: set[str] = set()
    complete: set[str] = set()
    said_at = time.monotonic()
    for line in iter(answer.readline, b""):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("error"):
            raise PullFailed(f"the engine can't pull {name}: {event['error']}")
        layer, status = str(event.get("id") or ""), str(event.get("status") or "")
        if layer and status not in ("", "Pulling from " + name):
            layers.add(layer)
            if status in ("Pull complete", "Already exists", "Download complete"):
                complete.add(layer)
        now = time.monotonic()
        if complete and now - said_at >= _BETWEEN_S:
            said_at = now
            say(f"pulls {name}: {len(complete)} of {len(layers)} layers")


def split(name: str) -> tuple[str, str]:
    """Returns the image, and its digest or tag; without either ``latest``."""
    image, at, digest = name.partition("@")
    last = image.rpartition("/")[2]
    base, colon, tag = last.partition(":")
    image = image[: len(image) - len(last)] + base
    return (image, digest) if at else (image, tag if colon else "latest")


def registry_of(name: str) -> str:
    """Returns the registry as credentials name it."""
    first, slash, _ = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return _HUB if first == "docker.io" else first
    return _HUB


def find_credentials(registry: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Reads Docker's or Podman's file; returns {} if it has none for the registry.

    Raises PullFailed: a helper that it names fails.
    """
    for path in _files(environment):
        try:
            with open(path, encoding="utf-8") as file:
                config = json.load(file)
        except (OSError, ValueError):  # the registry says what it wants
            continue
        packed = ((config.get("auths") or {}).get(registry) or {}).get("auth")
        if packed:
            user, _, password = base64.b64decode(packed).decode().partition(":")
            return {"username": user, "password": password, "serveraddress": registry}
        helper = (config.get("credHelpers") or {}).get(registry) or config.get("credsStore")
        found = _ask_helper(str(helper), registry) if helper else {}
        if found:
            return found
    return {}


def _files(environment: Mapping[str, str]) -> list[str]:
    home = environment.get("HOME") or os.path.expanduser("~")
    folder = environment.get("DOCKER_CONFIG") or os.path.join(home, ".docker")
    run = environment.get("XDG_RUNTIME_DIR") or "/run/user/%d" % os.getuid()
    named = environment.get("REGISTRY_AUTH_FILE")
    return [
        *([named] if named else []),
        os.path.join(folder, "config.json"),
        os.path.join(run, "containers", "auth.json"),
        os.path.join(home, ".config", "containers", "auth.json"),
    ]


def _ask_helper(helper: str, registry: str) -> dict[str, str]:
    """Returns {} if it has nothing for the registry. Raises PullFailed."""
    command = f"docker-credential-{helper}"
    try:
        done = subprocess.run(
            [command, "get"],
            input=registry.encode(),
            capture_output=True,
            timeout=_HELPER_S,
            check=False,
        )
        if done.returncode:
            return {}
        found = json.loads(done.stdout)
        user, secret = str(found["Username"]), str(found["Secret"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        raise PullFailed(
            f"the credentials for {registry} can't be read: {command} fails: {error}"
        ) from error
    if user == "<token>":
        return {"identitytoken": secret, "serveraddress": registry}
    return {"username": user, "password": secret, "serveraddress": registry}


def make_headers(credentials: dict[str, str]) -> dict[str, str]:
    if not credentials:
        return {}
    packed = base64.urlsafe_b64encode(json.dumps(credentials).encode()).decode()
    return {"X-Registry-Auth": packed}


def _message(content: bytes) -> str:
    try:
        value: Any = json.loads(content)
    except ValueError:
        value = None
    found = value.get("message") or value.get("cause") if isinstance(value, dict) else None
    return str(found or content.decode("utf-8", "replace")).strip()[:1000]
