"""Finds what the user's configuration of Docker or Podman has for a registry."""

from __future__ import annotations

import base64
import json
import os
import subprocess

from footplate.domain.image_reference import DEFAULT_REGISTRY

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping, Tuple

_HUB = "https://index.docker.io/v1/"
"""The name of Docker Hub among credential helpers."""
_HUB_NAMES = ("index.docker.io", "registry-1.docker.io", DEFAULT_REGISTRY)
_NOT_FOUND = b"credentials not found in native keychain"
"""Helpers that have nothing for the registry print this."""
_HELPER_S = 60.0
_MALFORMED = (AttributeError, LookupError, TypeError)


class UnreadableCredentials(Exception):
    """Credentials can't be read. The message is for users."""


class Credentials:
    """A login to a registry. ``config`` is its file; ``user`` is None if no file has one."""

    def __init__(self, config: str, found: Mapping[str, str] | None = None) -> None:
        self.config = config
        self.user = (found.get("username") or "of a token") if found else None
        self._found = found

    @property
    def login(self) -> Tuple[str, str] | None:
        """Returns user and password; None without a login, or where it is a token alone."""
        found = self._found or {}
        return (found["username"], found["password"]) if "password" in found else None

    @property
    def header(self) -> str:
        """Returns the header field for the engine, which Docker requires for a push even without
        a login.
        """
        packed = base64.urlsafe_b64encode(json.dumps(self._found or {}).encode()).decode()
        return f"X-Registry-Auth: {packed}"


def find_credentials(registry: str, environment: Mapping[str, str]) -> Credentials:
    """Returns the first login in the user's files.

    Raises UnreadableCredentials if an entry, or a named helper, is broken.
    """
    paths = _files(environment)
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                config = json.load(file)
        except (OSError, ValueError):  # the registry says what it wants
            continue
        try:
            found = _look_up(config, registry)
        except (OSError, subprocess.SubprocessError, ValueError, *_MALFORMED) as error:
            raise UnreadableCredentials(
                f"credentials for {registry} can't be read from {path}: {error}"
            ) from error
        if found:
            return Credentials(path, found)
    return Credentials(paths[0])


def _files(environment: Mapping[str, str]) -> list[str]:
    """Returns the paths to read; users without a login are told to log in at the first."""
    home = environment.get("HOME") or os.path.expanduser("~")
    run = environment.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    named = environment.get("REGISTRY_AUTH_FILE")
    return [
        *([named] if named else []),
        os.path.join(environment.get("DOCKER_CONFIG") or f"{home}/.docker", "config.json"),
        os.path.join(run, "containers", "auth.json"),
        os.path.join(home, ".config", "containers", "auth.json"),
    ]


def _look_up(config: Mapping[str, Any], registry: str) -> dict[str, str]:
    """Returns the login in a configuration; prefers a helper's answer, as ``docker pull`` does."""
    name = _HUB if registry == DEFAULT_REGISTRY else registry
    helper = (config.get("credHelpers") or {}).get(name) or config.get("credsStore")
    found = _ask_helper(str(helper), name) if helper else {}
    if found:
        return found
    entries = config.get("auths") or {}
    own = (entry for key, entry in entries.items() if host_of(key) == registry)
    return _unpack(entries.get(registry) or next(filter(None, own), {}), name)


def host_of(key: str) -> str:
    """Returns the registry for a key of ``auths``, which may be an address, or have a path."""
    host = key.partition("://")[2] or key
    host = host.partition("/")[0]
    return DEFAULT_REGISTRY if host in _HUB_NAMES else host


def _unpack(entry: Mapping[str, Any], name: str) -> dict[str, str]:
    if entry.get("identitytoken"):
        return {"identitytoken": str(entry["identitytoken"]), "serveraddress": name}
    if not entry.get("auth"):
        return {}
    user, _, password = base64.b64decode(entry["auth"]).decode().partition(":")
    return {"username": user, "password": password, "serveraddress": name}


def _ask_helper(helper: str, name: str) -> dict[str, str]:
    """Returns the helper's login for the registry; {} if it has none."""
    command = f"docker-credential-{helper}"
    done = subprocess.run(
        [command, "get"], input=name.encode(), capture_output=True, timeout=_HELPER_S, check=False
    )
    if done.returncode:
        said = done.stdout + done.stderr
        if _NOT_FOUND in said:
            return {}
        raise OSError(f"{command} fails: {said.decode(errors='replace').strip()[:200]}")
    found = json.loads(done.stdout)
    if found["Username"] == "<token>":
        return {"identitytoken": str(found["Secret"]), "serveraddress": name}
    return {
        "username": str(found["Username"]),
        "password": str(found["Secret"]),
        "serveraddress": name,
    }
