"""``--package-path``: builds a source distribution from a folder with a Python package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from footplate.cli.packaging.archive import Archive, Source, write_tar_gz
from footplate.cli.packaging.build import build_sdist, is_project
from footplate.cli.packaging.source_tree import read_tree
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

VERSION = "0.0.0"
"""What a package without metadata of its own gets, from gcloud as well."""

_SHOWN = 3

SETUP = """\
from setuptools import setup

setup(
    name={name!r},
    version={version!r},
    packages={packages!r},
    package_data={data!r},
    install_requires={requirements!r},
)
"""


@dataclass(frozen=True)
class Package:
    """What was made, and what the user should know about it."""

    archive: Archive
    notes: tuple[str, ...] = ()


def build_package(package_path: Path) -> Package:
    """The distribution of the package in the folder ``package_path``.

    What stands in its parent says how it is built; where nothing does, a setup.py is made up.

    Raises:
        InvalidArgument: it isn't a package, or doesn't build.
    """
    folder = check_package(package_path)
    if is_project(folder.parent):
        archive = build_sdist(folder.parent)
        return Package(archive, _missing_notes(archive, folder))
    files = {f"{folder.name}/{path}": source for path, source in read_tree(folder).items()}
    archive = make_sdist(folder.name, files)
    return Package(archive, _parity_notes(folder, files))


def make_sdist(name: str, files: dict[str, Source], requirements: Sequence[str] = ()) -> Archive:
    """A distribution of the packages among ``files``, with all other files as their data."""
    packages = sorted(
        str(PurePosixPath(path).parent).replace("/", ".")
        for path in files
        if PurePosixPath(path).name == "__init__.py"
    )
    data = sorted(path.partition("/")[2] for path in files if not path.endswith("/__init__.py"))
    setup = SETUP.format(
        name=name,
        version=VERSION,
        packages=packages,
        data={name: data},
        requirements=list(requirements),
    )
    root = f"{name}-{VERSION}"
    info = f"Metadata-Version: 2.1\nName: {name}\nVersion: {VERSION}\n"
    members = {f"{root}/{path}": source for path, source in files.items()}
    members[f"{root}/setup.py"] = Source(setup.encode())
    members[f"{root}/PKG-INFO"] = Source(info.encode())
    return Archive(f"{root}.tar.gz", write_tar_gz(members))


def check_package(given: Path) -> Path:
    """The folder of the package. Raises InvalidArgument: it isn't one."""
    folder = given.resolve()
    if not folder.is_dir():
        raise InvalidArgument(f"--package-path: {given} is not a folder")
    if not (folder / "__init__.py").is_file():
        raise InvalidArgument(
            f"--package-path: {given} is not a Python package: it has no __init__.py; "
            "give the folder with the modules, such as trainer/, not the one around it"
        )
    if not folder.name.isidentifier():
        raise InvalidArgument(f"--package-path: {folder.name!r} can't be the name of a package")
    return folder


def _missing_notes(archive: Archive, folder: Path) -> tuple[str, ...]:
    if any(f"/{folder.name}/" in f"/{member}" for member in archive.members()):
        return ()
    return (f"{archive.name}, built from {folder.parent}, has no package {folder.name!r} in it.",)


def _parity_notes(folder: Path, files: dict[str, Source]) -> tuple[str, ...]:
    """gcloud's own setup.py takes the modules of the one package, and nothing below it."""
    name = folder.name
    left_out = [
        path
        for path in sorted(files)
        if PurePosixPath(path).parent != PurePosixPath(name) or not path.endswith(".py")
    ]
    if not left_out:
        return ()
    shown = ", ".join(left_out[:_SHOWN]) + (", ..." if len(left_out) > _SHOWN else "")
    note = (
        f"gcloud would leave out {len(left_out)} of the files ({shown}): "
        f"a setup.py in {folder.parent} that names them works in both places."
    )
    return (note,)
