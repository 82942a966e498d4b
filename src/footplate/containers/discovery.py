"""Finds the container engine of this machine by settings and environment.

It imports nothing of ours: ``footplate regions check`` sends it to a node as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import sys
from dataclasses import dataclass

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Mapping, Tuple

NONE = "none"
"""The setting that says: there is no engine, whatever answers."""

REMEDY = (
    "install Podman (Debian: apt-get install podman; then podman system service, or systemctl "
    "--user start podman.socket) or Docker, or name its socket in the setting container_engine"
)


@dataclass(frozen=True)
class Candidates:
    """Sockets in the order in which to try them; ``problem`` says why there are none."""

    paths: Tuple[str, ...] = ()
    named_by: str | None = None
    """The setting or variable that names the one socket; None: the usual ones."""

    problem: str | None = None


def candidates(setting: str | None, environ: Mapping[str, str], uid: int) -> Candidates:
    """Returns the candidates. ``setting`` is the value of ``container_engine``."""
    if setting == NONE:
        return Candidates(problem="the setting container_engine is none; set it to a socket's path")
    if setting:
        return _named(setting, "the setting container_engine")
    host = environ.get("DOCKER_HOST")
    if host:
        return _named(host, "DOCKER_HOST")
    return Candidates(usual_sockets(environ, uid))


def _named(value: str, by: str) -> Candidates:
    scheme, separator, rest = value.partition("://")
    path = rest if separator and scheme == "unix" else value
    if separator and scheme != "unix":
        return Candidates(
            problem=(
                f"{by} is {value}: a container engine of another machine can't run jobs, because "
                "programs need this machine's files. Name a socket of this machine, such as "
                "unix:///var/run/docker.sock"
            )
        )
    if not path.startswith("/"):
        return Candidates(
            problem=f"{by} is {value!r}; allowed: a socket's absolute path, with or without unix://"
        )
    return Candidates((path,), by)


def usual_sockets(environ: Mapping[str, str], uid: int) -> tuple[str, ...]:
    """Returns the usual sockets, the user's own engine first, as it needs no rights of root."""
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

    ``probe`` returns None if an engine answers, or else why not.
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
    """Returns why none answers; sockets that exist come first, as their errors say more."""
    faults = [f"{path}: {reason}" for path, reason in reasons.items() if reason != MISSING]
    if faults:
        return f"no container engine answers on this machine ({'; '.join(faults)}); {REMEDY}"
    return f"the server found no container engine on this machine; {REMEDY}"


MISSING = "this socket does not exist"
PROBE_TIMEOUT_S = 2.0


@dataclass(frozen=True)
class FoundEngine:
    """The engine that was found. ``socket`` is its path; if None, ``problem`` says what to
    install or start.
    """

    socket: str | None
    problem: str = ""


def find_engine(setting: str | None, environ: Mapping[str, str]) -> FoundEngine:
    """Returns the first engine that answers; waits at most PROBE_TIMEOUT_S for each candidate."""
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
        return (
            "the server's user may not use this socket; add the user to its group, or run rootless"
        )
    except ConnectionRefusedError:
        return "nothing listens at this socket; start the container engine"
    except socket.timeout:  # that of Python before 3.10, too
        return f"the engine doesn't answer within {PROBE_TIMEOUT_S:g} s; restart it"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    if not answer.startswith(b"HTTP/1.") or b" 200 " not in answer:
        return "the server at this socket is not a container engine"
    return None


class NoEngine(Exception):
    """A node has no engine; the message says where it was searched."""


def find_on_node(named: str, environ: Mapping[str, str], uid: int) -> str:
    """Returns the first socket that answers, or else the first that exists, as it may answer later.

    If ``named`` is given, only that one counts. Ignores DOCKER_HOST if it names another machine.
    Raises NoEngine.
    """
    host = environ.get("DOCKER_HOST", "")
    if not named and host.startswith("unix://"):
        named = host[len("unix://") :]
    run = {name: value for name, value in environ.items() if name == "XDG_RUNTIME_DIR"}
    paths = (named,) if named else usual_sockets(run, uid)
    there = [path for path in paths if _is_socket(path)]
    if not there:
        raise NoEngine(
            f"there is no container engine on node {os.uname().nodename}: {', '.join(paths)} "
            f"{'is' if named else 'are'} missing; start Podman's socket or Docker there"
        )
    return next((path for path in there if probe(path) is None), there[0])


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:  # the next one is tried, and each is reported
        return False


COMMANDS = {"apptainer": ("apptainer", "singularity")}
"""The commands that run images without an engine, by the value of a region's ``containers``."""
_NAMESPACES = "/proc/sys/user/max_user_namespaces"


def find_command(name: str, environ: Mapping[str, str]) -> str:
    """Returns the path of the first of the commands in the node's PATH. Raises NoEngine."""
    for command in COMMANDS[name]:
        path = shutil.which(command, path=environ.get("PATH"))
        if path:
            return path
    raise NoEngine(
        f"node {os.uname().nodename} has no {' or '.join(COMMANDS[name])} in its PATH; install "
        "Apptainer there, or load its module before jobs start"
    )


def ask_version(path: str) -> str:
    """Returns the first line of ``--version``. Raises NoEngine."""
    import subprocess  # only who asks pays for it

    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, timeout=PROBE_TIMEOUT_S * 5, check=True
        )
        return done.stdout.decode("utf-8", "replace").strip().splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError) as error:
        raise NoEngine(f"{path} --version fails: {error}") from error


def _check_namespaces() -> None:
    """Raises NoEngine if the kernel gives users no namespaces, which images need."""
    if os.getuid() == 0:
        return
    try:
        with open(_NAMESPACES, encoding="ascii") as file:
            state = "" if int(file.read()) else "0"
    except OSError:  # it was built without them
        state = "missing"
    if state:
        raise NoEngine(f"the kernel gives users no namespaces: {_NAMESPACES} is {state}")


def report(named: str) -> None:
    """Prints the node, the socket or command, and what is wrong with it, as JSON."""
    found = {"node": os.uname().nodename, "socket": "", "fault": ""}
    try:
        if named in COMMANDS:
            found["socket"] = find_command(named, os.environ)
            found["version"] = ask_version(found["socket"])
            _check_namespaces()
        else:
            found["socket"] = find_on_node(named, os.environ, os.getuid())
            found["fault"] = probe(found["socket"]) or ""
    except NoEngine as error:
        found["fault"] = str(error)
    sys.stdout.write(json.dumps(found) + "\n")
