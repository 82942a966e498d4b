"""Finds the engine of this machine by settings and environment; remembers it for some seconds."""

from __future__ import annotations

import os
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.errors import FailedPrecondition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


NONE = "none"
"""The setting that says: there is no engine, whatever answers."""

REMEDY = (
    "install Podman (Debian: apt-get install podman; then podman system service, or systemctl "
    "--user start podman.socket) or Docker, or name its socket in the setting container_engine"
)


@dataclass(frozen=True)
class Candidates:
    """Sockets in the order in which they are tried; ``problem``: why there are none."""

    paths: tuple[str, ...] = ()
    named_by: str | None = None
    """The setting or variable that names the one socket; None: the usual ones."""

    problem: str | None = None


def candidates(setting: str | None, environ: Mapping[str, str], uid: int) -> Candidates:
    """``setting``: the value of ``container_engine``."""
    if setting == NONE:
        return Candidates(problem="container_engine is none; set it to a socket's path")
    if setting:
        return _named(setting, "the setting container_engine")
    if host := environ.get("DOCKER_HOST"):
        return _named(host, "DOCKER_HOST")
    return Candidates(usual_sockets(environ, uid))


def _named(value: str, by: str) -> Candidates:
    scheme, separator, rest = value.partition("://")
    path = rest if separator and scheme == "unix" else value
    if separator and scheme != "unix":
        return Candidates(
            problem=(
                f"{by} is {value}: an engine of another machine can't run jobs, because "
                "programs need this machine's files. Name a socket of this machine, such as "
                "unix:///var/run/docker.sock"
            )
        )
    if not path.startswith("/"):
        return Candidates(
            problem=f"{by} is {value!r}; allowed: the absolute path of a socket, or unix:// and it"
        )
    return Candidates((path,), by)


def usual_sockets(environ: Mapping[str, str], uid: int) -> tuple[str, ...]:
    """Returns the user's own engine first: it needs no rights of root's."""
    run = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{uid}"
    home = environ.get("HOME")
    own = [f"{run}/podman/podman.sock", f"{run}/docker.sock"]
    if home:
        own += [f"{home}/.docker/run/docker.sock", f"{home}/.docker/desktop/docker.sock"]
        own += [f"{home}/.colima/default/docker.sock"]
    system = ["/run/podman/podman.sock", "/var/run/docker.sock"]
    return tuple(system + own if uid == 0 else own + system)


def choose(found: Candidates, probe: Callable[[str], str | None]) -> tuple[str | None, str]:
    """Returns the first socket that answers, or None with the reason.

    ``probe``: None where an engine answers, else why not.
    """
    if found.problem:
        return None, found.problem
    reasons = {}
    for path in found.paths:
        reason = probe(path)
        if reason is None:
            return path, ""
        reasons[path] = reason
    if found.named_by:
        path, reason = next(iter(reasons.items()))
        return None, f"no container engine answers at {path} ({found.named_by}): {reason}"
    return None, _none_of(reasons)


def _none_of(reasons: Mapping[str, str]) -> str:
    """Sockets that exist and don't answer say more than those that don't exist."""
    faults = [f"{path}: {reason}" for path, reason in reasons.items() if reason != MISSING]
    if faults:
        return f"no container engine answers on this machine ({'; '.join(faults)}); {REMEDY}"
    return f"the server found no container engine on this machine; {REMEDY}"


MISSING = "this socket does not exist"

PROBE_TIMEOUT_S = 2.0
CACHE_TTL_S = 5.0


@dataclass(frozen=True)
class FoundEngine:
    """``socket`` is the engine's path; None: ``problem`` describes what to install or start."""

    socket: str | None
    problem: str = ""


def find_engine(setting: str | None, environ: Mapping[str, str]) -> FoundEngine:
    """Asks each candidate, at most PROBE_TIMEOUT_S long."""
    path, problem = choose(candidates(setting, environ, os.getuid()), probe)
    return FoundEngine(path, problem)


def probe(path: str) -> str | None:
    """Returns why no engine answers at the socket; None if one does."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PROBE_TIMEOUT_S)
            connection.connect(path)
            connection.sendall(b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n")
            answer = connection.recv(64)
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except PermissionError:
        return "this user may not use it; add the user to the socket's group, or run rootless"
    except ConnectionRefusedError:
        return "nothing listens there; start the engine"
    except TimeoutError:
        return f"it doesn't answer within {PROBE_TIMEOUT_S:g} s; restart the engine"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    if not answer.startswith(b"HTTP/1.") or b" 200 " not in answer:
        return "the server at this socket is not a container engine"
    return None


class EngineFinder:
    """Finds the engine, at each submit of a container job, from any thread."""

    def __init__(
        self,
        setting: str | None,
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
        find: Callable[[str | None, Mapping[str, str]], FoundEngine] = find_engine,
    ) -> None:
        self._setting = setting
        self._environ = environ
        self._clock = clock
        self._find = find
        self._lock = threading.Lock()
        self._found: tuple[float, FoundEngine] | None = None
        self._last = ""

    def socket(self) -> str:
        """Implements the port. Raises FailedPrecondition."""
        found = self()
        if found.socket is None:
            raise FailedPrecondition(found.problem)
        return found.socket

    def expected_socket(self) -> str:
        """Implements the port: the last one that answered, or the one that is named."""
        named = candidates(self._setting, self._environ, os.getuid())
        return self._last or (named.paths[0] if named.named_by else "")

    def __call__(self) -> FoundEngine:
        """Finds the engine, anew if it was missing; one found a few seconds ago counts."""
        with self._lock:
            now = self._clock()
            if self._found is None or now - self._found[0] >= CACHE_TTL_S:
                found = self._find(self._setting, self._environ)
                self._found = (now, found) if found.socket else None
                self._last = found.socket or self._last
                return found
            return self._found[1]
