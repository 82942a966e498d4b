"""Finds the engine of this machine, and caches the answer for a few seconds."""

from __future__ import annotations

import os
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.container_engine.sockets import MISSING, candidates, choose
from footplate.domain.errors import FailedPrecondition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    """None if an engine answers at the socket, else why not."""
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
    """Asked at each submit of a container job, from any thread."""

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
        """As the port has it. Raises FailedPrecondition."""
        found = self()
        if found.socket is None:
            raise FailedPrecondition(found.problem)
        return found.socket

    def expected_socket(self) -> str:
        """As the port has it: the last one that answered, or the one that is named."""
        named = candidates(self._setting, self._environ, os.getuid())
        return self._last or (named.paths[0] if named.named_by else "")

    def __call__(self) -> FoundEngine:
        """One that was found a few seconds ago counts; one that was missing is looked for again."""
        with self._lock:
            now = self._clock()
            if self._found is None or now - self._found[0] >= CACHE_TTL_S:
                found = self._find(self._setting, self._environ)
                self._found = (now, found) if found.socket else None
                self._last = found.socket or self._last
                return found
            return self._found[1]
