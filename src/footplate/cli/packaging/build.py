"""Builds a project with a setup.py or pyproject.toml, in a copy."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from uv import find_uv_bin

from footplate.cli.packaging.archive import Archive, normalise
from footplate.cli.packaging.source_tree import copy_tree
from footplate.domain.errors import InvalidArgument

_TAIL = 15
"""Lines of the build's output that an error shows."""


def is_project(folder: Path) -> bool:
    """Whether something there says how to build it; a pyproject.toml of tools only doesn't."""
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
    """The source distribution of ``project``.

    Raises:
        InvalidArgument: it doesn't build; shows the end of what the build said.
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
            f"the package in {shown} doesn't build:\n{tail}\n"
            "Build it yourself, and give the file with --packages instead of --package-path."
        )
