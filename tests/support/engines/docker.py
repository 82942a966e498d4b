"""dockerd with storage and a containerd of its own; it changes nothing of the host's network."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.engines.engine import (
    PrivateEngine,
    find_program,
    make_socket_directory,
    running,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def private_dockerd(directory: Path) -> Iterator[PrivateEngine]:
    """``directory`` is made, and removed with all that is in it. Needs root."""
    program = find_program("dockerd")
    if program is None:
        raise FileNotFoundError("dockerd is not installed")
    directory.mkdir(parents=True)
    sockets = make_socket_directory()
    command = (
        program,
        "--bridge=none",
        "--iptables=false",
        f"--host=unix://{sockets}/docker.sock",
        f"--data-root={directory}/data",
        f"--exec-root={sockets}/exec",  # containerd's sockets are in it
        f"--pidfile={directory}/pid",
        f"--config-file={directory}/daemon.json",
    )
    (directory / "daemon.json").write_text("{}")
    helper = sockets / "exec" / "containerd" / "containerd.pid"
    engine = PrivateEngine(
        "docker", directory, sockets / "docker.sock", command, helper_pid_file=helper
    )
    with running(engine):
        yield engine
