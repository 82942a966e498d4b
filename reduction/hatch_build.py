"""Compiles the C++ library, without which there is no wheel."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FLAGS = [
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-shared",
    "-pthread",
    "-fvisibility=hidden",
    "-ffp-contract=off",  # sums have the same bits everywhere
    "-Wall",
    "-Wextra",
]
NATIVE = Path("src", "footplate_reduction", "native")
NO_LIBRARY = (
    "footplate-reduction can't compile its C++ library: it needs Linux and a C++ compiler; "
    "install g++, or set CXX to a compiler"
)


class CompileHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """The library lies in the source tree: there an editable installation finds it.

        A checkout may be set up without a compiler: work on the service alone needs no
        library, and what needs it says so when it is called.
        """
        root = Path(self.root)
        compiler = find_compiler()
        library = root / NATIVE / "core.so"
        if compiler is None or not compile_to(library, root / NATIVE / "core.cpp", compiler):
            library.unlink(missing_ok=True)
            if version != "editable":
                self.app.abort(NO_LIBRARY)
            self.app.display_warning(NO_LIBRARY)
            return
        build_data["artifacts"].append(str(NATIVE / "core.so"))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"


def find_compiler() -> list[str] | None:
    """``CXX``, which may have arguments, and may be empty: none is wanted."""
    if not sys.platform.startswith("linux"):
        return None
    if "CXX" in os.environ:
        return shlex.split(os.environ["CXX"]) or None
    found = (shutil.which(name) for name in ("c++", "g++", "clang++"))
    return next(([path] for path in found if path), None)


def compile_to(library: Path, source: Path, compiler: list[str]) -> bool:
    """Replaces the library whole: a process may have the former one open."""
    unfinished = library.with_suffix(f".{os.getpid()}")
    try:
        command = [*compiler, *FLAGS, str(source), "-o", str(unfinished)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError as error:
        sys.stderr.write(f"{compiler[0]}: {error}\n")
        return False
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        return False
    unfinished.replace(library)
    return True


def platform_tag() -> str:
    """Returns the platform of the wheel: this one, or that for which ``CXX`` compiles."""
    given = os.environ.get("FOOTPLATE_REDUCTION_PLATFORM")
    return given or sysconfig.get_platform().replace("-", "_").replace(".", "_")
