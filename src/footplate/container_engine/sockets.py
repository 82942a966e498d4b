"""Lists the engine sockets to try, by settings and environment. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
            problem=f"{by} is {value}: engines of other machines can't be used: programs "
            "need this machine's files; name a socket of this machine, such as "
            "unix:///var/run/docker.sock"
        )
    if not path.startswith("/"):
        return Candidates(
            problem=f"{by} is {value!r}; allowed: the absolute path of a socket, or unix:// and it"
        )
    return Candidates((path,), by)


def usual_sockets(environ: Mapping[str, str], uid: int) -> tuple[str, ...]:
    """The user's own engine first: it needs no rights of root's."""
    run = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{uid}"
    home = environ.get("HOME")
    own = [f"{run}/podman/podman.sock", f"{run}/docker.sock"]
    if home:
        own += [f"{home}/.docker/run/docker.sock", f"{home}/.docker/desktop/docker.sock"]
        own += [f"{home}/.colima/default/docker.sock"]
    system = ["/run/podman/podman.sock", "/var/run/docker.sock"]
    return tuple(system + own if uid == 0 else own + system)


def choose(found: Candidates, probe: Callable[[str], str | None]) -> tuple[str | None, str]:
    """The first socket that answers, or None with the reason.

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
    return f"no container engine found on this machine; {REMEDY}"


MISSING = "there is no such socket"
