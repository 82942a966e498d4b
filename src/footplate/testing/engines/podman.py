"""Podman's service with storage of its own."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager
from typing import TYPE_CHECKING

from footplate.testing.engines.engine import (
    PrivateEngine,
    clean_up,
    find_program,
    make_socket_directory,
    running,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@contextmanager
def private_podman(
    directory: Path, *, insecure_registries: Sequence[str] = ()
) -> Iterator[PrivateEngine]:
    """``directory`` is made, and removed with all that is in it.

    ``insecure_registries``: asked over plain http; ``127.0.0.1`` covers all its ports.
    """
    program = find_program("podman")
    if program is None:
        raise FileNotFoundError("podman is not installed")
    directory.mkdir(parents=True)
    socket = make_socket_directory() / "podman.sock"
    try:
        environment = _configure(directory, insecure_registries)
    except BaseException:
        clean_up(directory, socket.parent)
        raise
    command = (program, "--log-level=warn", "system", "service", "--time=0", f"unix://{socket}")
    with running(PrivateEngine("podman", directory, socket, command, environment)) as engine:
        yield engine


def _configure(directory: Path, insecure_registries: Sequence[str]) -> dict[str, str]:
    containers = directory / "containers.conf"
    containers.write_text(_containers_conf(directory))
    storage = directory / "storage.conf"
    storage.write_text(
        f'[storage]\ndriver = "overlay"\nrunroot = "{directory}/run"\n'
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


def _containers_conf(directory: Path) -> str:
    """Locks in files: those in shared memory are shared by all engines of a machine.

    Podman's default limits exceed what a process without CAP_SYS_RESOURCE may set, and crun
    refuses machines that mix both versions of cgroups. What cleans up behind a container is told of
    no ``static_dir``: it looks below the graph root.
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
        *(['runtime = "runc"'] if find_program("runc") and os.geteuid() == 0 else []),
        "[network]",
        'network_backend = "netavark"',
        f'network_config_dir = "{directory}/networks"',
    )
    return "\n".join(lines) + "\n"


def _hard_limit(which: int) -> int:
    hard = resource.getrlimit(which)[1]
    return 1 << 20 if hard == resource.RLIM_INFINITY else hard
