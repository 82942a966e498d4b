"""Finds the container engine of a node, on which no server runs.

It imports nothing of ours: `footplate regions check` sends it to a node as it is.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import sys

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping

PING_S = 2.0
_PING = b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n"


class NoEngine(Exception):
    """The node has none; the message says where it was looked for."""


def find_socket(named: str, environment: Mapping[str, str], uid: int) -> str:
    """Returns the first that answers, or else the first there is: it may be about to come back.

    ``named``: the only one that counts; empty: DOCKER_HOST's, or the usual ones.

    Raises NoEngine.
    """
    host = environment.get("DOCKER_HOST", "")
    if not named and host.startswith("unix://"):
        named = host[len("unix://") :]
    paths = [named] if named else usual_sockets(environment, uid)
    there = [path for path in paths if _is_socket(path)]
    if not there:
        raise NoEngine(
            "there is no container engine on node %s: %s %s; start Podman's socket or Docker there"
            % (os.uname().nodename, ", ".join(paths), "is missing" if named else "are missing")
        )
    return next((path for path in there if not find_fault(path)), there[0])


def usual_sockets(environment: Mapping[str, str], uid: int) -> list[str]:
    """Returns the user's own engine first, which needs no rights of root's."""
    run = environment.get("XDG_RUNTIME_DIR") or "/run/user/%d" % uid
    own = [run + "/podman/podman.sock", run + "/docker.sock"]
    system = ["/run/podman/podman.sock", "/var/run/docker.sock"]
    return system + own if uid == 0 else own + system


def find_fault(path: str) -> str:
    """Returns why no engine answers there; '' if one does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(PING_S)
        connection.connect(path)
        connection.sendall(_PING)
        answer = connection.recv(64)
    except OSError as error:
        return error.strerror or str(error)
    finally:
        connection.close()
    return "" if b" 200 " in answer else "the server at this socket is not a container engine"


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:  # the next one is tried, and each is reported
        return False


def report(named: str) -> None:
    """Prints the node, the socket, and what is wrong with it, as JSON."""
    found = {"node": os.uname().nodename, "socket": "", "fault": ""}
    try:
        found["socket"] = find_socket(named, os.environ, os.getuid())
        found["fault"] = find_fault(found["socket"])
    except NoEngine as error:
        found["fault"] = str(error)
    sys.stdout.write(json.dumps(found) + "\n")
