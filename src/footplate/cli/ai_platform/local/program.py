"""The user's package, with a module that starts it in the directory that gcloud would use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.cli.packaging.archive import Source
from footplate.cli.packaging.build import is_project
from footplate.cli.packaging.build_progress import build_shown
from footplate.cli.packaging.module_check import check_module
from footplate.cli.packaging.trainer_package import make_sdist

if TYPE_CHECKING:
    from footplate.cli.packaging.archive import Archive

_STARTER = "footplate_local_train"
_TASK = '''\
"""Starts the module {module} in the folder around its package, as gcloud does."""
import os
import runpy
import sys

if __name__ == "__main__":
    try:
        os.chdir({folder!r})
    except OSError as error:
        sys.stderr.write("%s; started in the replica's working directory\\n" % error)
    runpy.run_module({module!r}, run_name="__main__", alter_sys=True)
'''


@dataclass(frozen=True)
class Program:
    """Packages to submit, and the module of them to run."""

    module: str
    packages: tuple[Archive, ...]
    folder: Path
    """Where it starts."""


def package_program(package_path: str, module: str) -> Program:
    """The module is started in the parent of ``package_path``, from the package as installed.

    Raises:
        InvalidArgument: there is no such package or module, or it doesn't build.
    """
    archive = build_shown(package_path)
    parent = Path(package_path).expanduser().resolve().parent
    check_module(module, archive, own_build=is_project(parent))
    task = _TASK.format(module=module, folder=str(parent))
    files = {
        f"{_STARTER}/__init__.py": Source(b""),
        f"{_STARTER}/task.py": Source(task.encode()),
    }
    return Program(f"{_STARTER}.task", (archive, make_sdist(_STARTER, files)), parent)
