"""``local-package-path`` of a worker pool: turns a folder of code into a runnable package.

gcloud builds an image with that code in its working directory, and starts the script or module
there. The package made here does the same: it puts the code into the replica's working
directory, which is private to it, and starts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from footplate.cli.packaging.archive import Archive, Source, read_tree
from footplate.cli.packaging.source_uses import find_uses
from footplate.cli.packaging.trainer_package import build_sdist, is_project, make_sdist
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from footplate.domain.preview.source_patterns import Use

PACKAGE = "footplate_local_code"
MODULE = f"{PACKAGE}.task"

_TASK = '''\
"""Puts the code beside this file into the working directory, and becomes its program."""
import os
import shutil
import sys

COMMAND = {command!r}


def main():
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "code")
    for folder, _, names in os.walk(source):
        target = os.path.join(os.getcwd(), os.path.relpath(folder, source))
        if not os.path.isdir(target):
            os.makedirs(target)
        for name in names:
            shutil.copy(os.path.join(folder, name), os.path.join(target, name))
    python = [] if COMMAND[0] == "bash" else [sys.executable, "-u"]
    command = python + COMMAND + sys.argv[1:]
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
'''


@dataclass(frozen=True)
class LocalCode:
    """The local code to run, from the keys of a worker pool; paths are relative to ``root``."""

    root: Path
    python_module: str | None = None
    script: str | None = None
    requirements: tuple[str, ...] = ()
    extra_packages: tuple[str, ...] = ()
    extra_dirs: tuple[str, ...] = ()
    option: str = "--worker-pool-spec: "
    """What stands before the names of these values, as the command line has them."""

    @property
    def main(self) -> PurePosixPath:
        """Returns the path of the file to run."""
        if self.python_module:
            return PurePosixPath(*self.python_module.split(".")).with_suffix(".py")
        return PurePosixPath(self.script or "")


def package_local_code(code: LocalCode) -> list[Archive]:
    """Returns the packages to submit, the one with MODULE first.

    Raises:
        InvalidArgument: a named file doesn't exist, or lies outside of the root.
    """
    root = check_local_code(code)
    runner = make_sdist(PACKAGE, _files(code, root), read_requirements(code, root))
    own = [build_sdist(root)] if is_project(root) else []
    return [runner, *own, *read_extra_packages(code, root)]


def check_local_code(code: LocalCode) -> Path:
    """Returns the root of the code. Raises InvalidArgument if it or its main file doesn't exist."""
    root = code.root.expanduser()
    key = "script" if code.script else "python-module"
    main = _inside(code, root, str(code.main), key)
    if not main.is_file():
        raise InvalidArgument(f"{code.option}{key}: {main} does not exist, or is not a file")
    return root


def _files(code: LocalCode, root: Path) -> dict[str, Source]:
    files = {
        f"{PACKAGE}/__init__.py": Source(b""),
        f"{PACKAGE}/task.py": Source(_TASK.format(command=_command(code)).encode()),
    }
    taken = read_code_files(code, root)
    return files | {f"{PACKAGE}/code/{path}": source for path, source in taken.items()}


def read_code_files(code: LocalCode, root: Path) -> dict[str, Source]:
    """Returns the files that gcloud would package, by path below ``root``.

    They are the files in the main file's folder and in the extra folders. Raises InvalidArgument.
    """
    files: dict[str, Source] = {}
    for folder in _folders(code):
        path = _inside(code, root, folder, "extra-dirs")
        if not path.is_dir():
            raise InvalidArgument(f"{code.option}extra-dirs: {path} is not a folder")
        prefix = PurePosixPath(folder)
        files.update({str(prefix / name): source for name, source in read_tree(path).items()})
    return files


def _command(code: LocalCode) -> list[str]:
    if code.python_module:
        return ["-m", code.python_module]
    return [str(code.main)] if code.main.suffix == ".py" else ["bash", str(code.main)]


def read_requirements(code: LocalCode, root: Path) -> list[str]:
    """Returns the requirements of the pool and of requirements.txt. Raises InvalidArgument."""
    found = list(code.requirements)
    path = root / "requirements.txt"
    if path.is_file():
        for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            line = raw.partition(" #")[0].strip()
            if line.startswith("-"):
                raise InvalidArgument(
                    f"{path}, line {number}: {line!r} is an option of pip; allowed: only "
                    "requirements, as in a package's metadata"
                )
            if line and not line.startswith("#"):
                found.append(line)
    return found


def find_local_uses(code: LocalCode) -> tuple[Use, ...]:
    """Returns how the code and its extra packages use TensorFlow. Raises InvalidArgument."""
    root = code.root.expanduser()
    folders = [_inside(code, root, path, "extra-dirs") for path in _folders(code)]
    packages = read_extra_packages(code, root)
    return find_uses(root, filter(Path.is_dir, folders), packages, code.requirements)


def read_extra_packages(code: LocalCode, root: Path) -> list[Archive]:
    """Returns the extra packages. Raises InvalidArgument if one doesn't exist."""
    return [_read(code, root, path) for path in code.extra_packages]


def _read(code: LocalCode, root: Path, path: str) -> Archive:
    file = _inside(code, root, path, "extra-packages")
    try:
        return Archive(file.name, file.read_bytes())
    except OSError as error:
        raise InvalidArgument(f"{code.option}extra-packages: {file}: {error.strerror}") from None


def _folders(code: LocalCode) -> tuple[str, ...]:
    return str(code.main.parent), *code.extra_dirs


def _inside(code: LocalCode, root: Path, path: str, key: str) -> Path:
    if not root.is_dir():
        raise InvalidArgument(f"{code.option}local-package-path: {root} is not a folder")
    chosen = root / path
    if not chosen.resolve().is_relative_to(root.resolve()):
        raise InvalidArgument(f"{code.option}{key}: {path!r} is outside local-package-path")
    return chosen


def read_local_code(pool: dict[str, str]) -> LocalCode:
    """Reads the keys of ``--worker-pool-spec`` for local code; ``;`` separates items."""

    def several(key: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in pool.get(key, "").split(";") if part.strip())

    return LocalCode(
        root=Path(pool["local-package-path"]),
        python_module=pool.get("python-module"),
        script=pool.get("script"),
        requirements=several("requirements"),
        extra_packages=several("extra-packages"),
        extra_dirs=several("extra-dirs"),
    )
