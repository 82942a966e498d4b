"""Trainers as users package them: real source distributions, uploaded by a real client."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SETUP = """\
from setuptools import find_packages, setup
setup(name="trainer", version="0.1.0", packages=find_packages(), install_requires={requires!r})
"""


def pack(members: Mapping[str, str]) -> bytes:
    """A .tar.gz of these members, however hostile their names; the same ones, the same bytes."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for path, text in members.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return gzip.compress(file.getvalue(), mtime=0)


def pack_trainer(task: str, setup: str | None = None) -> bytes:
    """A source distribution whose module ``trainer.task`` is ``task``, made without a build."""
    files = {
        "setup.py": setup or SETUP.format(requires=[]),
        "trainer/__init__.py": "",
        "trainer/task.py": task,
    }
    return pack({f"trainer-0.1.0/{path}": text for path, text in files.items()})


class Blob(Protocol):
    """What is used of an object of google-cloud-storage."""

    def upload_from_filename(self, filename: str) -> None: ...


class Bucket(Protocol):
    """What is used of a bucket of google-cloud-storage, without depending on it."""

    name: str

    def blob(self, blob_name: str) -> Blob: ...


class Trainers:
    """Packages made in ``folder`` and kept in ``bucket``, each under a name of its own."""

    def __init__(self, folder: Path, bucket: Bucket) -> None:
        self._folder = folder
        self._bucket = bucket
        self._made = 0

    def make(self, task: str, *, requires: tuple[str, ...] = ()) -> str:
        """The ``gs://`` address of a package whose module ``trainer.task`` is ``task``."""
        root = self._root()
        (root / "trainer").mkdir(parents=True)
        (root / "trainer" / "__init__.py").touch()
        (root / "trainer" / "task.py").write_text(task)
        (root / "setup.py").write_text(SETUP.format(requires=list(requires)))
        command = (sys.executable, "setup.py", "-q", "sdist")
        subprocess.run(command, cwd=root, check=True, capture_output=True)
        return self.upload(next((root / "dist").iterdir()))

    def make_archive(self, name: str, members: dict[str, str]) -> str:
        """The address of a tar archive with these members, however hostile their names."""
        root = self._root()
        root.mkdir(parents=True)
        (root / name).write_bytes(pack(members))
        return self.upload(root / name)

    def upload(self, package: Path) -> str:
        name = f"packages/{self._made}/{package.name}"
        self._bucket.blob(name).upload_from_filename(str(package))
        return f"gs://{self._bucket.name}/{name}"

    def _root(self) -> Path:
        self._made += 1
        return self._folder / str(self._made)
