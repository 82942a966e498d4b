"""Composes the container of a guard: an empty image, with this Python mounted into it.

The interpreter, its library and the directories of the shared libraries that this process has
loaded are mounted, and the node's own loader starts them. Nothing of the program's image is there:
the guard has the engine's socket, and a file of an image could have the loader run its code.
"""

from __future__ import annotations

import os
import sys

from footplate.containers.leftovers import HOME_LABEL, SERVICE_LABEL
from footplate.replica.container.container_spec import is_podman, security_options
from footplate.replica.container.empty_image import find_id
from footplate.replica.container.guard import LOCK

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

_PLACE = os.path.dirname(LOCK)
_PYTHON = f"{_PLACE}/bin/python3"
_ARCHIVE = f"{_PLACE}/supervisor.pyz"
_SHARED = ("/", "/run", "/var/run")
"""A socket there is mounted itself: the directory is full of other things."""


def compose_guard(
    program: Mapping[str, Any], container: str, socket: str, home: str, archive: str, engine: str
) -> dict[str, Any]:
    """Returns the body of the request that creates the guard's container.

    ``program`` is the body for the container named ``container``. ``home`` is the supervisor's
    HOME, ``archive`` its program. ``engine`` is the name that the engine gives itself. Raises
    OSError.
    """
    socket_mount, inside = _mount_socket(os.path.realpath(socket))
    mounts, command = _mount_python(read_libraries())
    mounts += [
        socket_mount,
        _mount(os.path.join(home, "lock"), LOCK),
        _mount(archive, _ARCHIVE),
    ]
    command += ["-I", "-S", "-B", _ARCHIVE, "guard", inside, container]
    labels = program["Labels"]
    return {
        "Image": find_id(),
        "Entrypoint": command[:1],
        "Cmd": command[1:],
        "User": "0:0",
        "WorkingDir": "/",
        "AttachStdout": True,
        "AttachStderr": True,
        "Labels": {name: labels[name] for name in (SERVICE_LABEL, HOME_LABEL)},
        "HostConfig": {
            "NetworkMode": "none",
            "Mounts": mounts,
            "LogConfig": {"Type": "none"},
            "SecurityOpt": security_options(),
            "AutoRemove": True,
            # The supervisor's lock is its user's, and the socket root's.
            **({} if is_podman(engine) else {"UsernsMode": "host"}),
        },
    }


def read_libraries() -> list[str]:
    """Returns the files of all shared libraries of this process. Raises OSError."""
    found: dict[str, None] = {}
    with open("/proc/self/maps", "rb") as file:
        for line in file:
            path = os.fsdecode(line.rstrip(b"\n").split(None, 5)[-1])
            if path.startswith("/") and ".so" in os.path.basename(path):
                found[os.path.realpath(path)] = None
    return list(found)


def _mount_python(libraries: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns the mounts of Python for the guard's container, and the words that start it there."""
    standard = os.path.dirname(os.path.realpath(os.__file__))
    above, name = os.path.split(standard)
    mounts = [
        _mount(os.path.realpath(sys.executable), _PYTHON),
        _mount(standard, f"{_PLACE}/{os.path.basename(above)}/{name}"),
    ]
    outside = [path for path in libraries if not path.startswith(standard + os.sep)]
    places: dict[str, str] = {}
    for path in outside:
        places.setdefault(os.path.dirname(path), f"{_PLACE}/shared{len(places)}")
    mounts += [_mount(source, target) for source, target in places.items()]
    loader = next((path for path in outside if _is_loader(path)), "")
    if not loader:  # it is linked statically
        return mounts, [_PYTHON]
    start = os.path.join(places[os.path.dirname(loader)], os.path.basename(loader))
    return mounts, [start, "--library-path", ":".join(places.values()), _PYTHON]


def _is_loader(path: str) -> bool:
    return os.path.basename(path).startswith(("ld-", "ld.so", "ld64.so"))


def _mount_socket(socket: str) -> tuple[dict[str, Any], str]:
    """Returns the mount of the socket's directory, so that a new socket is found after a restart of
    the engine, and the socket's path inside.
    """
    directory, name = os.path.split(socket)
    if directory in _SHARED:
        return _mount(socket, f"{_PLACE}/engine.sock"), f"{_PLACE}/engine.sock"
    return _mount(directory, f"{_PLACE}/engine"), f"{_PLACE}/engine/{name}"


def _mount(source: str, target: str) -> dict[str, Any]:
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": True}
