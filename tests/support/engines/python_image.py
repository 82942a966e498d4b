"""An image with a Python in it, made of this machine's files: nothing is downloaded.

Python with pip (no other package), sh, bash where there is one, and coreutils; a user ``trainer``
(1000) with a home directory.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

import docker

from tests.support.engines.engine import find_program

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNWANTED = frozenset(
    {"test", "tests", "idlelib", "turtledemo", "lib2to3", "tkinter", "site-packages"}
)
PACKAGES = (
    "pip",
    "setuptools",
    "pkg_resources",
    "wheel",
    "_distutils_hack",
    "distutils-precedence.pth",
)
PROGRAMS = (
    "sh bash cat chmod chown cp cut date dd df dirname du echo env expr false find grep head",
    "hostname id kill ln ls mkdir mkfifo mktemp mv nproc ps printf pwd readlink realpath rm rmdir",
    "sed seq sha256sum sleep sort stat sync tail tee test timeout touch tr true truncate uname wc",
)
UNNEEDED = re.compile(r"/(?:site-packages|ensurepip|pydoc_data|distutils|__pycache__)/")
SHELL_PROGRAMS = frozenset({"sh", "cat", "env", "ls", "mkdir", "sleep", "id"})
PATHS = "PATH=/usr/local/bin:/usr/bin:/bin"
LIBRARIES = "LD_LIBRARY_PATH=/usr/local/lib"


def make_python_image(socket: Path | str, name: str) -> str:
    """Import the image as ``name`` (with ``:latest`` unless it has a tag); return its id."""
    repository, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        repository, tag = name, "latest"
    client = docker.APIClient(base_url=f"unix://{socket}", version="auto", timeout=120)
    try:
        archive = python_files()
        changes = [f"ENV {PATHS}", f"ENV {LIBRARIES}", 'CMD ["python3"]']
        answer = client.import_image_from_data(archive, changes=changes)
        identity: str = json.loads(answer.splitlines()[-1])["status"]
        client.tag(identity, repository, tag)  # Podman 4.3 ignores the tag of an import
        return identity
    finally:
        client.close()


def python_files() -> IO[bytes]:
    """The image's files as a tar archive of about 80 MB, at its start; made once a process."""
    archive = _pack_files()
    archive.seek(0)
    return archive


def small_python_files() -> IO[bytes]:
    """The image's files without packages and what else small programs do without, in half the
    bytes: for engines that compress them.
    """
    small = io.BytesIO()
    with (
        tarfile.open(fileobj=python_files()) as files,
        tarfile.open(fileobj=small, mode="w") as archive,
    ):
        for entry in files:
            if not UNNEEDED.search(entry.name):
                archive.addfile(entry, files.extractfile(entry) if entry.isreg() else None)
    small.seek(0)
    return small


@cache
def _pack_files() -> IO[bytes]:
    """Into a file that nobody else sees."""
    file = tempfile.TemporaryFile(prefix="footplate-image-")  # noqa: SIM115  lives as the process
    with tarfile.open(fileobj=file, mode="w") as archive:
        _add_skeleton(archive)
        needed = [*_add_python(archive), *_add_programs(archive)]
        for library, place in sorted(find_libraries(needed).items()):
            archive.add(library, place, recursive=False)
    return file


def _add_skeleton(archive: tarfile.TarFile) -> None:
    for name in ("etc", "usr", "usr/bin", "usr/lib", "usr/lib64", "usr/local", "usr/local/bin"):
        _add_directory(archive, name)
    for name in ("proc", "sys", "dev", "run", "var", "var/tmp", "root", "home", "usr/local/lib"):
        _add_directory(archive, name)
    _add_directory(archive, "tmp", mode=0o1777)
    _add_directory(archive, "home/trainer", owner=1000)
    for name in ("bin", "lib", "lib64"):
        _add_link(archive, name, f"usr/{name}")
    passwd = "root:x:0:0:root:/root:/bin/sh\ntrainer:x:1000:1000::/home/trainer:/bin/sh\n"
    _add_text(archive, "etc/passwd", passwd)
    _add_text(archive, "etc/group", "root:x:0:\ntrainer:x:1000:\n")
    _add_text(archive, "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")


def _add_python(archive: tarfile.TarFile) -> list[Path]:
    """That of the running interpreter, below /usr/local; return the files that need libraries."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix)
    binary = (base / "bin" / f"python{version}").resolve()
    archive.add(binary, f"usr/local/bin/python{version}")
    for name in ("python3", "python"):
        _add_link(archive, f"usr/local/bin/{name}", f"python{version}")
    library = base / "lib" / f"python{version}"
    archive.add(library, f"usr/local/lib/python{version}", filter=_wanted)
    _add_packages(archive, f"usr/local/lib/python{version}/site-packages", base, version)
    modules = (f for f in library.glob("lib-dynload/*.so") if "tkinter" not in f.name)
    return [binary, *modules]


def _add_packages(archive: tarfile.TarFile, place: str, base: Path, version: str) -> None:
    _add_directory(archive, place)
    site = base / "lib" / f"python{version}" / "site-packages"
    for entry in sorted(site.glob("*")):
        if entry.name.partition("-")[0] in PACKAGES or entry.name in PACKAGES:
            archive.add(entry, f"{place}/{entry.name}", filter=_plain)
    for name in ("pip", "pip3"):
        _add_text(archive, f"usr/local/bin/{name}", PIP, mode=0o755)


PIP = """#!/usr/local/bin/python3
import sys
from pip._internal.cli.main import main
sys.exit(main())
"""


def _wanted(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(info.name)
    skipped = name.name in UNWANTED or name.name.startswith("config-") or ".opt-" in name.name
    return None if skipped else _plain(info)


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mode |= 0o444 | (0o111 if info.isdir() or info.mode & 0o100 else 0)
    return info


def _add_programs(archive: tarfile.TarFile) -> Iterator[Path]:
    for name in " ".join(PROGRAMS).split():
        found = find_program(name)
        if found is None:
            if name in SHELL_PROGRAMS:
                raise FileNotFoundError(f"{name} is not installed")
            continue
        file = Path(found).resolve()
        archive.add(file, f"usr/bin/{name}", filter=_plain)
        yield file


def find_libraries(files: Iterable[Path]) -> dict[Path, str]:
    """What the files are linked with, and where it goes in the image."""
    libraries: dict[Path, str] = {}
    output = subprocess.run(
        ("ldd", *map(str, files)), check=False, capture_output=True, text=True
    ).stdout
    for found in re.findall(r"(?:=> |^\t)(/\S+) \(0x", output, re.MULTILINE):
        path = Path(found)
        libraries[path.resolve()] = _library_place(path)
    return libraries


def _library_place(path: Path) -> str:
    """System libraries where the loader looks for them; all others where Python's own is."""
    parts = path.parts[1:]
    if parts[0] in ("lib", "lib64"):
        parts = ("usr", *parts)
    system = parts[:2] in (("usr", "lib"), ("usr", "lib64"))
    return "/".join(parts) if system else f"usr/local/lib/{path.name}"


def _add_directory(
    archive: tarfile.TarFile, name: str, *, mode: int = 0o755, owner: int = 0
) -> None:
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.uid, info.gid = tarfile.DIRTYPE, mode, owner, owner
    archive.addfile(info)


def _add_link(archive: tarfile.TarFile, name: str, target: str) -> None:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    archive.addfile(info)


def _add_text(archive: tarfile.TarFile, name: str, text: str, *, mode: int = 0o644) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text.encode()), mode
    archive.addfile(info, io.BytesIO(text.encode()))
