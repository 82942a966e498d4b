"""Run the supervisor's environment command by itself: a server for it, packages, tasks."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from footplate.control.preparations import describe_runtime
from footplate.protocol.task import Package, PythonTask, Task
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.supervisor_archive import build_archive
from tests.support.promised import make_promised
from tests.support.trainers import pack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from footplate.domain.runtimes import Runtime
    from footplate.protocol.promised import Promised

BACKEND = """\
import os, zipfile

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        for directory, _, files in os.walk("content"):
            for file in files:
                path = os.path.join(directory, file)
                wheel.write(path, os.path.relpath(path, "content"))
    return name
"""
PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "{name}"
version = "{version}"
"""


def make_wheel(
    directory: Path,
    name: str,
    version: str = "0.1",
    *,
    files: Mapping[str, str] | None = None,
    requires: Sequence[str] = (),
    scripts: Mapping[str, str] | None = None,
    python_requires: str = "",
) -> Path:
    """A pure wheel, made without any build tool."""
    path = directory / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for member, text in _wheel_files(
            name, version, files or {}, requires, scripts or {}, python_requires
        ):
            wheel.writestr(member, text)
    return path


def make_sdist(
    directory: Path,
    name: str,
    version: str = "0.1",
    *,
    files: Mapping[str, str] | None = None,
    requires: Sequence[str] = (),
    backend: str = BACKEND,
) -> Path:
    """A source distribution with a build backend of its own: its build needs no index."""
    path = directory / f"{name}-{version}.tar.gz"
    members = {
        "pyproject.toml": PYPROJECT.format(name=name, version=version),
        "backend.py": backend.format(name=name.replace("-", "_"), version=version),
        **{f"content/{m}": t for m, t in _wheel_files(name, version, files or {}, requires, {})},
    }
    path.write_bytes(pack({f"{name}-{version}/{member}": text for member, text in members.items()}))
    return path


def _wheel_files(
    name: str,
    version: str,
    files: Mapping[str, str],
    requires: Sequence[str],
    scripts: Mapping[str, str],
    python_requires: str = "",
) -> Iterator[tuple[str, str]]:
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    required = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    required += f"Requires-Python: {python_requires}\n" if python_requires else ""
    entries = "".join(f"{command} = {target}\n" for command, target in scripts.items())
    members = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{entries}",
    }
    yield from members.items()
    record = "".join(f"{m},sha256={_record_digest(t)},{len(t)}\n" for m, t in members.items())
    yield f"{info}/RECORD", f"{record}{info}/RECORD,,\n"


def _record_digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def lock(*wheels: Path) -> str:
    """A lock that names these wheels."""
    lines = []
    for wheel in wheels:
        name, version = wheel.name.split("-")[:2]
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        lines.append(f"{name.replace('_', '-')}=={version} --hash=sha256:{digest}\n")
    return "".join(lines)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class TaskServer:
    """The part of the replica API that the environment command uses."""

    def __init__(self, directory: Path) -> None:
        self.locks: dict[str, str] = {}
        self.packages: list[Path] = []
        self.file = directory / "server.json"
        self.requests: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests.append(self.path)
                body = outer._find(self.path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.file.write_text(json.dumps({"url": url, "pid": os.getpid(), "version": "0"}))

    def _find(self, path: str) -> bytes | None:
        kind, _, name = path.removeprefix("/replica/v1/").partition("/")
        if kind == "locks" and name in self.locks:
            return self.locks[name].encode()
        if kind == "packages" and name.isdigit() and int(name) < len(self.packages):
            return self.packages[int(name)].read_bytes()
        return None

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@dataclass
class Outcome:
    """What the environment command said."""

    code: int
    messages: list[str]
    result: dict[str, Any]
    errors: str

    @property
    def error(self) -> str:
        return str(self.result.get("error", ""))

    @property
    def python(self) -> str:
        return str(self.result["python"])

    def run(self, code: str, **variables: str) -> str:
        """The output of a piece of Python in the environment; its warnings are its own."""
        path = os.pathsep.join([*self.result["bin"], os.environ.get("PATH", "")])
        environment = {"HOME": os.environ.get("HOME", "/"), "PATH": path, **variables}
        ended = subprocess.run(
            [self.python, "-c", code],
            env=environment,
            text=True,
            capture_output=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()


@dataclass
class Bench:
    """Where environment commands are tried out; ``variables`` are added to their environment."""

    directory: Path
    server: TaskServer
    uv: str
    cache: Path
    variables: dict[str, str] = field(default_factory=dict)
    pythons: list[str] = field(default_factory=list)
    interpreter: str = sys.executable
    cache_limit_bytes: int = 0
    archives: Path | None = None
    """Where the supervisor's archive lies, or is built: by default in ``directory``."""
    promised: Promised = field(default_factory=make_promised)

    def make_home(
        self,
        runtime: Runtime,
        *packages: Path,
        module: str = "trainer.task",
        environment: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
    ) -> Path:
        """A supervisor's home with a ticket and a task."""
        home = self.directory / f"home-{len(list(self.directory.glob('home-*')))}"
        home.mkdir()
        self.server.packages = list(packages)
        ticket = SupervisorTicket(
            server_file=str(self.server.file),
            token="a.b.c",
            cache=str(self.cache),
            cache_limit_bytes=self.cache_limit_bytes,
            uv=self.uv,
            pythons=tuple(self.pythons),
            promised=self.promised,
        )
        task = Task(
            PythonTask(module),
            packages=tuple(Package(name) for name in names or [p.name for p in packages]),
            runtime=describe_runtime(runtime),
            environment=tuple((environment or {}).items()),
        )
        (home / "ticket.json").write_text(json.dumps(ticket.encode()))
        (home / "task.json").write_text(json.dumps(task.encode()))
        return home

    def start(self, home: Path, command: str = "environment") -> subprocess.Popen[str]:
        """The command, not waited for, in a process group of its own."""
        archive = build_archive(self.archives or self.directory)
        return subprocess.Popen(
            [self.interpreter, "-I", "-S", str(archive), command, str(home)],
            env={**os.environ, **self.variables},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def check(self, home: Path) -> Outcome:
        """Run the command that checks packages, with its files where the service puts them."""
        for folder in ("locks", "given"):
            (home / folder).mkdir()
        for sha256, text in self.server.locks.items():
            (home / "locks" / sha256).write_text(text)
        for index, package in enumerate(self.server.packages):
            (home / "given" / str(index)).write_bytes(package.read_bytes())
        return finish(self.start(home, "check-packages"))

    def prepare(self, home: Path) -> Outcome:
        """Run the command to its end."""
        return finish(self.start(home))


def finish(process: subprocess.Popen[str]) -> Outcome:
    """Wait for a command's end and read what it said."""
    output, errors = process.communicate()
    said = [json.loads(line) for line in output.splitlines()]
    result = said.pop() if said and "m" not in said[-1] else {}
    return Outcome(process.returncode, [value["m"] for value in said], result, errors)
