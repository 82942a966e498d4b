"""Podman's service with storage of its own."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.engines.engine import (
    PrivateEngine,
    clean_up,
    find_program,
    make_socket_directory,
    running,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


UNIFIED = Path("/sys/fs/cgroup/unified")
"""Where version 2 is beside version 1."""


@contextmanager
def private_podman(
    directory: Path, *, insecure_registries: Sequence[str] = (), runtime: str = "runc"
) -> Iterator[PrivateEngine]:
    """``directory`` is made, and removed with all that is in it.

    ``insecure_registries``: asked over plain http; ``127.0.0.1`` covers all its ports. ``runtime``
    is root's; crun sees no control groups of version 2 here.
    """
    program = find_program("podman")
    if program is None:
        raise FileNotFoundError("podman is not installed")
    directory.mkdir(parents=True)
    socket = make_socket_directory() / "podman.sock"
    try:
        environment = _configure(directory, socket.parent, insecure_registries, runtime)
    except BaseException:
        clean_up(directory, socket.parent)
        raise
    command = (
        *_hide(runtime),
        program,
        "--log-level=warn",
        "system",
        "service",
        "--time=0",
        f"unix://{socket}",
    )
    with running(PrivateEngine("podman", directory, socket, command, environment)) as engine:
        yield engine


def _hide(runtime: str) -> tuple[str, ...]:
    """crun refuses machines that mix both versions of control groups: it gets the first alone."""
    if runtime != "crun" or not UNIFIED.is_dir():
        return ()
    return "unshare", "--mount", "sh", "-c", f'umount {UNIFIED} && exec "$0" "$@"'


def _configure(
    directory: Path, short: Path, insecure_registries: Sequence[str], runtime: str
) -> dict[str, str]:
    """``short``: Podman itself takes a runroot of any length, and what it starts to clean up behind
    a container one of 50 characters.
    """
    containers = directory / "containers.conf"
    containers.write_text(_containers_conf(directory, runtime))
    storage = directory / "storage.conf"
    storage.write_text(
        f'[storage]\ndriver = "overlay"\nrunroot = "{short}/run"\n'
        f'graphroot = "{directory}/graph"\n[storage.options.overlay]\nmountopt = "nodev"\n'
    )
    registries = directory / "registries.conf"
    registries.write_text(
        'unqualified-search-registries = []\nshort-name-mode = "disabled"\n'
        + "".join(
            f'[[registry]]\nlocation = "{host}"\ninsecure = true\n' for host in insecure_registries
        )
    )
    return {
        "CONTAINERS_CONF": str(containers),
        "CONTAINERS_STORAGE_CONF": str(storage),
        "CONTAINERS_REGISTRIES_CONF": str(registries),
    }


def _containers_conf(directory: Path, runtime: str) -> str:
    """Locks in files: those in shared memory are shared by all engines of a machine.

    Podman's default limits exceed what a process without CAP_SYS_RESOURCE may set. What cleans up
    behind a container doesn't get ``static_dir``: it looks below the graph root.
    """
    files = min(_hard_limit(resource.RLIMIT_NOFILE), 20000)
    processes = min(_hard_limit(resource.RLIMIT_NPROC), 32768)
    lines = (
        "[containers]",
        f'default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]',
        "[engine]",
        'cgroup_manager = "cgroupfs"',
        'events_logger = "file"',
        'lock_type = "file"',
        f'static_dir = "{directory}/graph/libpod"',
        f'tmp_dir = "{directory}/state"',
        f'volume_path = "{directory}/volumes"',
        *([f'runtime = "{runtime}"'] if _is_chosen(runtime) else []),
        "[network]",
        'network_backend = "netavark"',
        f'network_config_dir = "{directory}/networks"',
    )
    return "\n".join(lines) + "\n"


def _is_chosen(runtime: str) -> bool:
    """Elsewhere Podman takes what suits the user's control groups."""
    return find_program(runtime) is not None and (os.geteuid() == 0 or UNIFIED.is_dir())


def _hard_limit(which: int) -> int:
    hard = resource.getrlimit(which)[1]
    return 1 << 20 if hard == resource.RLIM_INFINITY else hard
