"""The images that the chart installs, built here: nothing but Python packages is downloaded.

The bases of the official ones can't be had everywhere, so theirs are made of this machine's files.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.engines import make_python_image, private_podman
from tests.support.engines.engine import find_program
from tests.support.engines.python_image import find_libraries
from tests.support.postgresql import require_binaries

if TYPE_CHECKING:
    from tests.support.engines.engine import PrivateEngine

ROOT = Path(__file__).resolve().parents[2]
FILES = Path(__file__).with_name("chart")
SERVICE = "registry.example.com/footplate:1"
POSTGRESQL = "docker.io/library/postgres:17"
"""The names that ``deploy/rendered.yaml`` has; that PostgreSQL is this machine's."""
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
ROOT_ALONE = {"etc/passwd": "root:x:0:0:root:/root:/bin/sh\n", "etc/group": "root:x:0:\n"}
LIBRARIES = (
    "pthread.so.0",
    "dl.so.2",
    "rt.so.1",
    "util.so.1",
    "resolv.so.2",
    "stdc++.so.6",
    "gcc_s.so.1",
)
"""With what packages of Python are linked that are made for any Linux."""
SETTINGS = ("PIP_", "UV_")


def save_chart_images(folder: Path) -> tuple[Path, Path]:
    """Archives of the service's image and of PostgreSQL's, for containerd."""
    work = folder / "work"
    work.mkdir(parents=True)
    found = folder / "footplate.tar", folder / "postgresql.tar"
    with private_podman(folder / "podman") as engine:
        build_service(engine, work)
        _build_postgresql(engine, work)
        for name, file in zip((SERVICE, POSTGRESQL), found, strict=True):
            podman(engine, "save", "--quiet", f"--output={file}", name)
    shutil.rmtree(work)
    return found


def build_service(engine: PrivateEngine, work: Path) -> None:
    """Builds the image ``SERVICE`` as a release does, but from a wheel for this platform alone."""
    _build_base(engine, work)
    context = work / "context"
    build = ("-m", "hatchling", "build", "-t", "wheel", "-d", str(context / "dist"))
    subprocess.run((sys.executable, *build), cwd=ROOT, check=True, capture_output=True)
    podman(
        engine,
        "build",
        *_own_index(),
        "--format=docker",  # OCI's has no health checks
        "--build-arg=BASE=localhost/base",
        "--build-arg=VERSION=1.0",
        f"--file={ROOT / 'deploy' / 'Containerfile'}",
        f"--tag={SERVICE}",
        str(context),
    )


def podman(engine: PrivateEngine, *words: str) -> str:
    """Runs a command of podman and returns its output."""
    environment = {**os.environ, **engine.environment}
    done = subprocess.run(
        ("podman", *words), env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


def _own_index() -> list[str]:
    """pip finds packages as it does outside."""
    names = [name for name in os.environ if name.startswith(SETTINGS)]
    places = [Path("/etc/pip.conf"), *map(Path, os.environ.get("PIP_FIND_LINKS", "").split())]
    mounts = [f"--volume={path}:{path}:ro" for path in places if path.exists()]
    return ["--network=host", *(f"--env={name}" for name in names), *mounts]


def _build(engine: PrivateEngine, work: Path, name: str, tag: str) -> None:
    file = FILES / f"{name}.containerfile"
    podman(engine, "build", "--network=host", f"--file={file}", f"--tag={tag}", str(work))


def _build_base(engine: PrivateEngine, work: Path) -> None:
    make_python_image(engine.socket, "localhost/python")
    programs = {
        Path(find_program(name) or name): f"usr/bin/{name}" for name in ("install", "useradd")
    }
    with tarfile.open(work / "base.tar", "w") as archive:
        _add_with_libraries(archive, programs)
        folder = next(
            path.parent for path in find_libraries(programs) if path.name.startswith("libc.so")
        )
        for name in LIBRARIES:
            archive.add((folder / f"lib{name}").resolve(), f"usr/lib/x86_64-linux-gnu/lib{name}")
        archive.add(AUTHORITIES.resolve(), AUTHORITIES.relative_to("/").as_posix())
        for name, text in ROOT_ALONE.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    _build(engine, work, "base", "localhost/base")


def _build_postgresql(engine: PrivateEngine, work: Path) -> None:
    binaries = require_binaries()
    version = binaries.parent
    shared = Path("/usr/share/postgresql") / version.name
    with tarfile.open(work / "postgresql.tar", "w") as archive:
        names = ("initdb", "postgres", "pg_isready")
        files = {binaries / name: f"{version}/bin/{name}".lstrip("/") for name in names}
        _add_with_libraries(archive, files)
        archive.add(shared, str(shared).lstrip("/"))
        archive.add("/usr/share/zoneinfo", "usr/share/zoneinfo")
        archive.add(version / "lib", f"{version}/lib".lstrip("/"))
        for name in names:
            link = tarfile.TarInfo(f"usr/bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, str(binaries / name)
            archive.addfile(link)
    shutil.copy(FILES / "postgresql-entrypoint.sh", work)
    _build(engine, work, "postgresql", POSTGRESQL)


def _add_with_libraries(archive: tarfile.TarFile, files: dict[Path, str]) -> None:
    for file, place in files.items():
        archive.add(file.resolve(), place)
    for library, place in find_libraries(files).items():
        archive.add(library, place, recursive=False)
