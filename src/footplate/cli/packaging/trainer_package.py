"""``--package-path``: builds a source distribution from a folder with a Python package."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click
from uv import find_uv_bin

from footplate.cli.packaging.archive import (
    Archive,
    Source,
    copy_tree,
    normalise,
    read_tree,
    write_tar_gz,
)
from footplate.domain.errors import InvalidArgument
from footplate.domain.formatting import nearest
from footplate.domain.package_formats import is_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TAIL = 15
"""Lines of the build's output that an error shows."""


def is_project(folder: Path) -> bool:
    """Returns whether the folder says how to build it; a pyproject.toml with only tools doesn't."""
    if (folder / "setup.py").is_file():
        return True
    try:
        content = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return False
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"{folder / 'pyproject.toml'} is not TOML: {error}") from None
    return "project" in content or "build-system" in content


def build_sdist(project: Path) -> Archive:
    """Returns the source distribution of ``project``.

    Raises:
        InvalidArgument: the build fails; the message has the end of its output.
    """
    with tempfile.TemporaryDirectory(prefix="footplate-build-") as scratch:
        # The copy keeps the folder's name: some setup.py scripts read it.
        copy, out = Path(scratch, "tree", project.resolve().name or "project"), Path(scratch, "out")
        copy_tree(project, copy)
        _run_uv(copy, out, shown=project)
        built = sorted(out.glob("*.tar.gz"))
        if not built:
            raise InvalidArgument(f"the build of {project} made no source distribution")
        return Archive(built[0].name, normalise(built[0].read_bytes()))


def _run_uv(copy: Path, out: Path, *, shown: Path) -> None:
    uv = [find_uv_bin(), "build", "--sdist", "--no-progress"]
    done = subprocess.run(
        [*uv, "--python", sys.executable, "--out-dir", out, copy],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        cwd=copy,
    )
    if done.returncode != 0:
        said = (done.stderr + done.stdout).strip().replace(str(copy), str(shown))
        tail = "\n".join(f"  {line}" for line in said.splitlines()[-_TAIL:])
        raise InvalidArgument(
            f"the package in {shown} doesn't build:\n{tail}\nBuild the package yourself, and "
            "give the file with --packages instead of --package-path."
        )


def check_module(
    module: str, archive: Archive, *, own_build: bool, field: str = "--module-name"
) -> None:
    """Checks that the package has the module. Raises InvalidArgument, naming ``field``, if it
    hasn't.

    ``own_build``: the user's own build may place packages elsewhere than their files.
    """
    known = frozenset(_modules(archive))
    packages = {name.partition(".")[0] for name in known}
    if module in known or (own_build and module.partition(".")[0] not in packages):
        return
    way = (
        nearest(module, known, "modules") if known else "the package has no module that can be run"
    )
    raise InvalidArgument(
        f"{field}: {module!r} given, a module that {archive.name} doesn't have; {way}"
    )


def _modules(archive: Archive) -> Iterator[str]:
    """Yields the runnable modules, named after their paths in the distribution."""
    for member in archive.members():
        path = PurePosixPath(*PurePosixPath(member).parts[1:])
        if path.suffix != ".py" or path.name in {"__init__.py", "setup.py"}:
            continue
        parts = path.parent.parts if path.name == "__main__.py" else path.with_suffix("").parts
        yield ".".join(parts[1:] if parts[:1] == ("src",) else parts)


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
    """A built package, with notes on it for the user."""

    archive: Archive
    notes: tuple[str, ...] = ()


def build_package(package_path: Path) -> Package:
    """Returns the distribution of the package in the folder ``package_path``.

    Its parent folder says how to build it; otherwise a setup.py is made up.

    Raises:
        InvalidArgument: the folder isn't a package, or doesn't build.
    """
    folder = check_package(package_path)
    if is_project(folder.parent):
        archive = build_sdist(folder.parent)
        return Package(archive, _missing_notes(archive, folder))
    files = {f"{folder.name}/{path}": source for path, source in read_tree(folder).items()}
    archive = make_sdist(folder.name, files)
    return Package(archive, _parity_notes(folder, files))


def make_sdist(name: str, files: dict[str, Source], requirements: Sequence[str] = ()) -> Archive:
    """Returns a distribution of the packages in ``files``; all other files are their data."""
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
    """Returns the package's folder. Raises InvalidArgument if it isn't a package."""
    folder = given.resolve()
    if not folder.is_dir():
        raise InvalidArgument(f"--package-path: {given} is not a folder")
    if not (folder / "__init__.py").is_file():
        raise InvalidArgument(
            f"--package-path: {given} is not a Python package: it has no __init__.py; give the "
            "folder with the modules, such as trainer/, not its parent folder"
        )
    if "." in folder.name or not is_module(folder.name):
        raise InvalidArgument(
            f"--package-path: {folder.name!r} can't be the name of a Python package"
        )
    return folder


def _missing_notes(archive: Archive, folder: Path) -> tuple[str, ...]:
    if any(f"/{folder.name}/" in f"/{member}" for member in archive.members()):
        return ()
    return (
        (
            f"The file {archive.name}, built from {folder.parent}, contains no package "
            f"{folder.name!r}."
        ),
    )


def _parity_notes(folder: Path, files: dict[str, Source]) -> tuple[str, ...]:
    """Returns notes on files that gcloud leaves out: its own setup.py includes no package below the
    first.
    """
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
        f"gcloud would leave out {len(left_out)} of the files ({shown}). To include them with "
        f"gcloud, too, name them in a setup.py in {folder.parent}."
    )
    return (note,)


def build_shown(package_path: str) -> Archive:
    """Returns the distribution of the package; prints progress and notes on stderr.

    Raises:
        InvalidArgument: the path isn't a package, or doesn't build.
    """
    folder = Path(package_path).expanduser()
    if folder.is_dir():  # else the refusal says all
        click.secho(f"Packaging {package_path}", err=True, dim=True)
    package = build_package(folder)
    for note in package.notes:
        click.secho(f"Note: {note}", err=True, fg="yellow")
    return package.archive
