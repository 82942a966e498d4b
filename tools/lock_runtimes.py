"""Lock the requirements of every runtime of the catalogue: ``python tools/lock_runtimes.py``.

Each ``locks/NAME.in`` becomes ``locks/NAME.txt``: exact versions with the hashes of all their
files, for Linux and macOS. Pins that are there already are kept where they still fit;
``--upgrade`` looks for the newest instead. Needs ``uv`` and a package index; the CPU build of
PyTorch must be among what uv finds (UV_FIND_LINKS, UV_INDEX).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

CATALOGUE = Path(__file__).parent.parent / "src" / "footplate" / "catalogue"
LOCKS = CATALOGUE / "locks"
PLATFORMS = 'sys_platform == "linux" or sys_platform == "darwin"'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="locks to make, like scikit-learn-1.9-cpu")
    parser.add_argument("--upgrade", action="store_true", help="prefer the newest versions")
    arguments = parser.parse_args()
    pythons = python_versions()
    for source in in_order(LOCKS.glob("*.in")):
        if not arguments.names or source.stem in arguments.names:
            lock(source, pythons[source.stem], upgrade=arguments.upgrade)


def python_versions() -> dict[str, str]:
    """The Python version for each lock, by the lock's name."""
    data: dict[str, Any] = tomllib.loads((CATALOGUE / "runtimes.toml").read_text("utf-8"))
    return {
        piece["lock"].removesuffix(".txt"): runtime["python"]
        for runtime in data["runtimes"]
        for piece in (*runtime["cpu"], *runtime.get("gpu", ()))
    }


def in_order(sources: Iterable[Path]) -> list[Path]:
    """Slices last: they are constrained by the locks of the full runtimes (``-c``)."""
    return sorted(sources, key=lambda path: ("-c " in path.read_text("utf-8"), path.name))


def lock(source: Path, python: str, *, upgrade: bool) -> None:
    """Resolve one source for one Python version on all platforms."""
    sys.stderr.write(f"{source.stem}: Python {python}\n")
    text = source.read_text("utf-8")
    overrides = source.with_suffix(".overrides")
    with tempfile.TemporaryDirectory(dir=LOCKS, prefix=".") as scratch:
        narrowed = Path(scratch, "requirements.in")
        narrowed.write_text(narrow(text, python).replace("-c ", "-c ../"), "utf-8")
        narrowed_overrides = Path(scratch, "overrides.in")
        if overrides.exists():
            narrowed_overrides.write_text(narrow(overrides.read_text("utf-8"), python), "utf-8")
        command = [
            *("uv", "pip", "compile", str(narrowed), "--quiet", "--universal"),
            *("--python-version", python, "--generate-hashes", "--no-annotate"),
            *("--no-emit-index-url", "--no-emit-find-links"),
            *("--custom-compile-command", "python tools/lock_runtimes.py"),
            *("--output-file", str(source.with_suffix(".txt"))),
            *(("--override", str(narrowed_overrides)) if overrides.exists() else ()),
            *(("--upgrade",) if upgrade else ()),
        ]
        subprocess.run(command, check=True, env=environment(text))


def environment(text: str) -> dict[str, str]:
    """uv's settings; local folders of wheels only for a lock that asks for a local build.

    A build like 2.13.0+cpu that lies in such a folder satisfies 2.13.0 too, and would take the
    place of the index's own build.
    """
    local = re.search(r"==\S+\+", text) is not None
    return {name: v for name, v in os.environ.items() if local or name != "UV_FIND_LINKS"}


def narrow(text: str, python: str) -> str:
    """The same requirements, for this Python version and the known platforms only."""
    only = f'({PLATFORMS}) and python_full_version < "{after(python)}"'
    lines = []
    for line in text.splitlines():
        requirement, semicolon, marker = line.partition(";")
        if not line or line.startswith(("#", "-")):
            lines.append(line)
        elif semicolon:
            lines.append(f"{requirement}; ({marker.strip()}) and {only}")
        else:
            lines.append(f"{requirement} ; {only}")
    return "\n".join(lines) + "\n"


def after(python: str) -> str:
    """The minor version that follows: 3.12 for 3.11."""
    major, minor = python.split(".")
    return f"{major}.{int(minor) + 1}"


if __name__ == "__main__":
    main()
