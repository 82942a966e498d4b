"""What private engines have in common: a process that can be killed and started again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import docker
from docker.errors import DockerException

from tests.support.engines.leftovers import (
    is_running,
    kill_processes_of,
    remove_tree,
    unmount_below,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 20.0
PODMAN_API = "1.40"
"""All of its versions have it; to be asked which ones it has takes Podman more than a second."""


@dataclass
class PrivateEngine:
    """An engine's service process, and the socket that it answers on."""

    kind: str
    """``podman`` or ``docker``."""

    directory: Path
    socket: Path
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the engine's own command line needs to use the same storage."""

    helper_pid_file: Path | None = None
    """Of a process that ends with a killed engine; some init may leave it as a zombie for ever."""

    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """As DOCKER_HOST has it."""
        return f"unix://{self.socket}"

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Return when the engine answers."""
        self.socket.unlink(missing_ok=True)
        self._forget_dead_helper()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                cwd=self.directory,  # where a helper of Podman writes a file
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self.answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.kind} didn't start: {self.log.read_text()[-4000:]}")
            time.sleep(0.02)

    def _forget_dead_helper(self) -> None:
        if self.helper_pid_file is None or not self.helper_pid_file.exists():
            return
        helper = self.helper_pid_file.read_text().strip()
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while is_running(int(helper)) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.helper_pid_file.unlink()

    @property
    def log(self) -> Path:
        return self.directory / "log"

    def answers(self) -> bool:
        """Asked without the docker package, which leaves sockets open where nobody answers."""
        with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:  # none answers
            connection.settimeout(5)
            connection.connect(str(self.socket))
            connection.sendall(b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n")
            return b" 200 " in connection.recv(64)
        return False

    @contextmanager
    def client(self, *, timeout: int = 120) -> Iterator[docker.APIClient]:
        version = PODMAN_API if self.kind == "podman" else "auto"
        client = docker.APIClient(base_url=self.url, version=version, timeout=timeout)
        try:
            yield client
        finally:
            client.close()

    def kill(self) -> None:
        """End the service process as a crash would; containers go on."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def remove_containers(self) -> None:
        """Whatever their state, with their anonymous volumes."""
        if self._process is None or self._process.poll() is not None:
            self._process = None
            self.start()
        with self.client() as client:
            for container in client.containers(all=True):
                with suppress(DockerException):
                    client.remove_container(container["Id"], force=True, v=True)


@contextmanager
def running(engine: PrivateEngine) -> Iterator[PrivateEngine]:
    """The engine, started; nothing of it is left when the block ends."""
    try:
        engine.start()
        yield engine
    finally:
        try:
            with suppress(RuntimeError, DockerException, OSError):  # its end removes them, too
                engine.remove_containers()
            engine.stop()
        finally:
            clean_up(engine.directory, engine.socket.parent)


def clean_up(*directories: Path) -> None:
    for directory in directories:
        kill_processes_of(directory)
        unmount_below(directory)
    for directory in directories:
        remove_tree(directory)


def make_socket_directory() -> Path:
    """A short path: that of a Unix socket may have 107 bytes, and tests' directories are deep."""
    return Path(tempfile.mkdtemp(prefix="footplate-engine-", dir="/tmp"))


def missing_programs(*programs: str) -> str | None:
    """A sentence that names what is not installed."""
    missing = [program for program in programs if find_program(program) is None]
    if not missing:
        return None
    packages = {"podman": "podman runc netavark", "dockerd": "docker.io", "docker": "docker.io"}
    wanted = " ".join(packages.get(program, program) for program in missing)
    return f"{' and '.join(missing)} not found (Debian: apt-get install {wanted})"


def find_program(name: str) -> str | None:
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
    return shutil.which(name, path=path)
