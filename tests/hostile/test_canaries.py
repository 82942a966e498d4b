"""Packages with code in all places where Python runs it by itself, while environments are made.

Each piece of it reports who runs it, in which namespaces, and which files of the service it can
read and write, to a port of the test. Nothing of it may run as root, in the service's view, read
anything of the service, or write what others run.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from uv import find_uv_bin

from footplate.domain.runtimes import Runtime, Slice
from footplate.protocol.promised import PROCESS_NAMESPACE, VIEW
from footplate.replica.isolation import mode_selection
from footplate.replica.isolation.mount_namespace import MountNamespace
from footplate.replica.isolation.users import User
from footplate.replica.supervisor_archive import build_archive
from tests.hostile.conftest import NOBODY, SYSTEM_PYTHON, USERS
from tests.support.environments import (
    BACKEND,
    Bench,
    Outcome,
    TaskServer,
    digest,
    finish,
    make_sdist,
    make_wheel,
)
from tests.support.promised import make_promised
from tests.support.trainers import pack

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="runs commands as root and as nobody"
)
CANARY = """
def look():
    import json, os, socket
    def is_open(path):
        try:
            open(path, "rb").close()
        except OSError:
            return False
        return True
    def namespace(kind):
        try:
            return os.readlink("/proc/self/ns/" + kind)
        except OSError:
            return ""
    found = {{"place": {place!r}, "uid": os.getuid(), "view": namespace("mnt")}}
    def is_writable(path):
        try:
            os.close(os.open(path + "/planted", os.O_CREAT | os.O_WRONLY))
        except OSError:
            return False
        return True
    found["written"] = [path for path in {caches!r} if is_writable(path)]
    found["read"] = [path for path in {secrets!r} if is_open(path)]
    with socket.create_connection(("127.0.0.1", {port})) as end:
        end.sendall(json.dumps(found).encode())
        end.shutdown(socket.SHUT_WR)
        end.recv(1)  # until it is noted
try:
    look()
except Exception:
    pass
"""
LEGACY = """
import os, sys

class Legacy:
    def build_wheel(self, wheel_directory, config_settings=None, metadata_directory=None):
        with open("setup.py") as file:
            exec(file.read(), {})
        from backend import build_wheel
        return build_wheel(wheel_directory)

__legacy__ = Legacy()
sys.path.insert(0, os.getcwd())
"""
"""Of a setuptools that only runs setup.py."""
BY_BUILDS = {"backend of a package", "setup.py", ".pth of a runtime"}
BY_PYTHON = {".pth", "sitecustomize", "usercustomize"}


class Reports:
    """What the canaries have said."""

    def __init__(self, secrets: list[str], caches: list[str]) -> None:
        self.secrets = secrets
        self.caches = caches
        self.all: list[dict[str, Any]] = []
        reports = self.all

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                reports.append(json.loads(self.rfile.read()))

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def canary(self, place: str) -> str:
        port = self._server.server_address[1]
        facts = {"secrets": self.secrets, "caches": self.caches}
        return CANARY.format(place=place, port=port, **facts)

    @property
    def places(self) -> set[str]:
        return {report["place"] for report in self.all}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Service:
    """The environment command as a service of root or of ``nobody`` starts it."""

    def __init__(self, bench: Bench, reports: Reports, user: int | None, version: str) -> None:
        self.bench = bench
        self.reports = reports
        self.user = user
        self.wheels = bench.directory / "wheels"
        self.builder = NOBODY if user is not None else USERS[0] + 77
        self.runtime = self._make_runtime(version)
        self.packages = self._make_packages()

    def prepare(self, command: str) -> Outcome:
        home = self.bench.make_home(self.runtime, *self.packages)
        ticket = json.loads((home / "ticket.json").read_text())
        ticket["private"] = [str(self.bench.directory / "data")]
        (home / "ticket.json").write_text(json.dumps(ticket))
        if self.user is None:
            user = User(self.builder, USERS[0])
            (home / "user.json").write_text(json.dumps({"user": user.encode()}))
        for folder in ("locks", "given"):
            (home / folder).mkdir()
        for sha256, text in self.bench.server.locks.items():
            (home / "locks" / sha256).write_text(text)
        for index, package in enumerate(self.packages):
            shutil.copy(package, home / "given" / str(index))
        archive = build_archive(self.bench.directory)
        if self.user is not None:
            for path in (self.bench.directory, *self.bench.directory.rglob("*")):
                os.chown(path, self.user, self.user, follow_symlinks=False)
        return finish(
            subprocess.Popen(
                [self.bench.interpreter, "-I", "-S", str(archive), command, str(home)],
                user=self.user,
                group=self.user,
                extra_groups=None if self.user is None else [],
                env={"PATH": os.environ["PATH"], "HOME": "/", **self.bench.variables},
                text=True,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )

    def _make_runtime(self, python: str) -> Runtime:
        """With wheels, one of them setuptools, and a source distribution of an index."""
        canary = self.reports.canary
        wheel = make_wheel(
            self.wheels, "base", files={"base.pth": one_line(canary(".pth of a runtime"))}
        )
        backend = canary("backend of a runtime") + BACKEND
        source = make_sdist(self.wheels, "lower", backend=escape(backend))
        files = {"setuptools/__init__.py": "", "setuptools/build_meta.py": LEGACY}
        setuptools = make_wheel(self.wheels, "setuptools", "80.0", files=files)
        lines = [
            f"{path.name.split('-')[0]}=={version} "
            f"--hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"
            for path, version in ((wheel, "0.1"), (setuptools, "80.0"), (source, "0.1"))
        ]
        text = "".join(lines)
        self.bench.server.locks[digest(text)] = text
        return Runtime("9.9", python, (Slice("whole", digest(text)),))

    def _make_packages(self) -> list[Path]:
        canary, directory = self.reports.canary, self.bench.directory
        make_sdist(
            self.wheels, "upper", backend=escape(canary("backend of a requirement") + BACKEND)
        )
        modules = ("json", "os", "compileall", "encodings/__init__", "zipfile", "struct")
        files = {
            "evil.pth": one_line(canary(".pth")),
            "sitecustomize.py": canary("sitecustomize"),
            "usercustomize.py": canary("usercustomize"),
            "task.py": "print('runs')",
            "__pycache__/task.cpython-311.pyc": "no bytecode",
            **{f"{name}.py": canary(f"module {name}") for name in modules},
            "evil-0.1.data/data/bin/uv": f"#!{sys.executable}\n{canary('bin/uv')}",
            "evil-0.1.data/scripts/git": f"#!python\n{canary('bin/git')}",
        }
        wheel = make_wheel(
            directory,
            "evil",
            files=files,
            requires=["upper"],
            scripts={"pip": "sitecustomize:look"},
        )
        source = make_sdist(
            directory, "built", backend=escape(canary("backend of a package") + BACKEND)
        )
        old, info = directory / "old-0.1.tar.gz", "content/old-0.1.dist-info"
        members = {
            "setup.py": canary("setup.py"),
            "backend.py": BACKEND.format(name="old", version="0.1"),
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: old\nVersion: 0.1\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": "",
        }
        old.write_bytes(pack({f"old-0.1/{name}": text for name, text in members.items()}))
        return [wheel, source, old]


def one_line(code: str) -> str:
    """As ``.pth`` files have it."""
    return f"import sys; exec({code!r})\n"


def escape(backend: str) -> str:
    """All braces but those of BACKEND's own fields are text."""
    text = backend.replace("{", "{{").replace("}", "}}")
    return text.replace("{{name}}", "{name}").replace("{{version}}", "{version}")


@pytest.fixture(params=["root", "nobody"])
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    ordinary = request.param == "nobody"
    if ordinary and not Path(SYSTEM_PYTHON).exists():
        pytest.skip("needs an interpreter that other users may run")
    directory = Path(tempfile.mkdtemp(dir="/var/tmp"))
    secrets = [directory / "data" / name for name in ("secret", "footplate.db", "buckets/other/x")]
    for path in secrets:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    (directory / "data").chmod(0o700)
    (directory / "wheels").mkdir()
    caches = [directory / "uv-cache"]
    caches += [directory / "data" / "cache" / part for part in ("", "runtimes", "layers", "locks")]
    reports = Reports([*map(str, secrets), "/etc/shadow"], [*map(str, caches)])
    server = TaskServer(directory)
    variables = {
        "UV_FIND_LINKS": str(directory / "wheels"),
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(directory / "uv-cache"),
    }
    python = SYSTEM_PYTHON if ordinary else f"{sys.base_prefix}/bin/python3"
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = subprocess.check_output([python, "-c", ask], text=True).strip()
    cache = directory / "data" / "cache"
    places = (directory, server, find_uv_bin(), cache, variables, [python], python)
    yield Service(Bench(*places), reports, NOBODY if ordinary else None, version)
    server.close()
    reports.close()
    shutil.rmtree(directory, ignore_errors=True)


def test_nothing_of_a_package_runs_outside_the_isolation_of_builds(
    service: Service, tmp_path: Path
) -> None:
    fault = mode_selection.find_fault(MountNamespace(str(tmp_path), "", "", ()))
    if fault:
        pytest.skip(f"there are no mount namespaces: {fault}")
    reports = service.reports
    for command, expected in (
        ("check-packages", {*BY_BUILDS, "backend of a runtime"}),
        ("environment", {*BY_BUILDS, "backend of a requirement"}),
    ):
        reports.all.clear()
        outcome = service.prepare(command)
        assert outcome.code == 0, outcome
        assert reports.places >= expected
        own = str(Path("/proc/self/ns/mnt").readlink())
        for report in reports.all:
            assert report["uid"] == service.builder, report
            assert (report["read"], report["written"]) == ([], []), report
            assert report["view"] != own, report
    if service.user is None:  # what runs the environment runs them
        reports.all.clear()
        outcome.run("import site; site.ENABLE_USER_SITE = True; import usercustomize")
        assert reports.places >= BY_PYTHON | {".pth of a runtime"}


@pytest.mark.parametrize("service", ["nobody"], indirect=True)
def test_where_nothing_hides_environments_what_programs_changed_is_not_run(
    service: Service,
) -> None:
    service.bench.promised = make_promised(**{VIEW: "no namespaces", PROCESS_NAMESPACE: "none"})
    outcome = service.prepare("environment")
    assert outcome.code == 0, outcome
    layers, runtimes = (service.bench.cache / kind for kind in ("layers", "runtimes"))
    planted = []
    for folder in (layers, runtimes):
        (site,) = folder.glob("*/lib/*/site-packages")
        site.chmod(0o755)  # as its owner, whom programs run as, can
        planted.append(site / "planted.pth")
        planted[-1].write_text(one_line(service.reports.canary("planted")))
    again = service.prepare("environment")
    assert again.code == 0, again
    assert not any(path.exists() for path in planted)
    again.run("pass")
    assert "planted" not in service.reports.places


RUNTIME = """\
[runtimes.own]
python = "{version}"
versions = ["9.9"]
[[runtimes.own.cpu]]
name = "whole"
lock = "lock.txt"
"""


@pytest.mark.parametrize("service", ["root"], indirect=True)
def test_nothing_of_a_runtime_runs_as_who_builds_it(service: Service) -> None:
    bench = service.bench
    (bench.directory / "own.toml").write_text(RUNTIME.format(version=service.runtime.python))
    (lock,) = bench.server.locks.values()
    (bench.directory / "lock.txt").write_text(lock)
    ended = subprocess.run(
        [Path(sys.executable).with_name("footplate"), "runtimes", "build", "9.9"],
        env={
            **os.environ,
            **bench.variables,
            "FOOTPLATE_DATA_DIR": str(bench.directory / "data"),
            "FOOTPLATE_CATALOGUE": str(bench.directory / "own.toml"),
            "FOOTPLATE_PYTHONS": bench.interpreter,
        },
        text=True,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended
    reports, own = service.reports, str(Path("/proc/self/ns/mnt").readlink())
    assert "backend of a runtime" in reports.places
    for report in reports.all:
        assert report["uid"] != 0, report
        assert (report["read"], report["written"]) == ([], []), report
        assert report["view"] != own, report
