"""A real registry (Debian's docker-registry) on a loopback port, with or without passwords."""

from __future__ import annotations

import ctypes
import json
import secrets
import socket
import string
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from tests.support.engines.engine import find_program
from tests.support.engines.leftovers import remove_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

START_TIMEOUT_S = 30.0
STARTS = 3


@dataclass(frozen=True)
class PrivateRegistry:
    port: int
    pid: int

    @property
    def host(self) -> str:
        """The registry part of image names."""
        return f"127.0.0.1:{self.port}"


@contextmanager
def private_registry(
    directory: Path, htpasswd: Mapping[str, str] | None = None
) -> Iterator[PrivateRegistry]:
    """With ``htpasswd`` (user: password) it answers nobody else.

    ``directory`` is made, and removed with all that is in it.
    """
    program = find_program("docker-registry")
    if program is None:
        raise FileNotFoundError("docker-registry is not installed")
    directory.mkdir(parents=True)
    process = None
    try:
        process, port = _start(program, directory, htpasswd)
        yield PrivateRegistry(port, process.pid)
    finally:
        if process is not None:
            process.terminate()
            process.wait()
        remove_tree(directory)


def _start(
    program: str, directory: Path, htpasswd: Mapping[str, str] | None
) -> tuple[subprocess.Popen[bytes], int]:
    """Tried again where another process takes the port in between."""
    log = directory / "log"
    for _ in range(STARTS):
        port = _free_port()
        config = directory / "config.yml"
        config.write_text(json.dumps(_configuration(directory, port, htpasswd)))  # JSON is YAML
        with log.open("ab") as output:
            command = (program, "serve", str(config))
            process = subprocess.Popen(command, stdout=output, stderr=output)
        if _answers(process, port):
            return process, port
        process.kill()
        process.wait()
    raise RuntimeError(f"docker-registry didn't start: {log.read_text()[-4000:]}")


def _configuration(
    directory: Path, port: int, htpasswd: Mapping[str, str] | None
) -> dict[str, object]:
    configuration: dict[str, object] = {
        "version": 0.1,
        "log": {"level": "warn"},
        "storage": {
            "filesystem": {"rootdirectory": str(directory / "storage")},
            "delete": {"enabled": True},
        },
        "http": {"addr": f"127.0.0.1:{port}", "secret": secrets.token_hex()},
    }
    if htpasswd is not None:
        passwords = directory / "htpasswd"
        entries = (f"{user}:{_bcrypt(password)}\n" for user, password in htpasswd.items())
        passwords.write_text("".join(entries))
        configuration["auth"] = {"htpasswd": {"realm": "tests", "path": str(passwords)}}
    return configuration


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            answer = httpx.get(f"http://127.0.0.1:{port}/v2/", trust_env=False)
        except httpx.TransportError:
            time.sleep(0.02)
            continue
        return process.poll() is None and answer.status_code in (200, 401)
    return False


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _bcrypt(password: str) -> str:
    """The registry knows no other hash."""
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype = ctypes.c_char_p
    letters = string.ascii_letters + string.digits
    salt = "".join(secrets.choice(letters) for _ in range(21)) + "."
    hashed: bytes | None = crypt(password.encode(), f"$2y$05${salt}".encode())
    if hashed is None or not hashed.startswith(b"$2y$"):
        raise RuntimeError("this machine's libcrypt has no bcrypt")
    return hashed.decode()
