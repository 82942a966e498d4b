"""Puts into footplate's wheel what is made: the console's scripts, its version and commit, and the
wheels of footplate-reduction.

Workers and reduction servers install footplate-reduction in environments of their own; the service
only hands it out. An editable installation has none: it needs ``pip install -e reduction`` as
well, and ``make console``.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilder

SOURCE = "reduction"
TARGET = "footplate/server"
"""Where ``footplate.server.wheels`` looks for it."""
VERSION = Path("src", "footplate", "_version.py")
WHEELS = "FOOTPLATE_REDUCTION_WHEELS"
"""A folder of wheels of footplate-reduction for several platforms: footplate's wheel, with all of
them, is for all platforms. Without it, one is compiled for this platform.
"""
NO_REDUCTION = (
    "without footplate-reduction: jobs with reduction servers will be refused; "
    "install g++ and install footplate again to run them"
)


class BundleHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """Node, where it is missing and needed."""
        console = self._console()
        have = console["is_built"]() or console["npm_command"]()
        return [] if have else [console["NODE_PACKAGE"]]

    def _console(self) -> dict[str, Any]:
        return runpy.run_path(str(Path(self.root, "console", "build.py")))

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """A wheel that is compiled here is for one platform, so the outer one is, too. Without a
        C++ compiler there is no inner wheel, and the service refuses the jobs that need it.
        """
        self._write_version(editable=version == "editable")
        build_data["artifacts"].append(VERSION.as_posix())
        if version == "editable":
            return
        self._console()["build"]()
        if self.target_name == "wheel":
            self._bundle(build_data)

    def _write_version(self, *, editable: bool) -> None:
        """A source distribution brings the file, for it has no Git. An editable installation goes
        on to later commits, so it names none.
        """
        path = Path(self.root, VERSION)
        version = self.metadata.version
        commit = ""
        if Path(self.root, ".git").exists():
            command = ["git", "-C", self.root, "rev-parse", "--short=12", "HEAD"]
            # Another user's checkout, or a machine without git, is built without the commit.
            with contextlib.suppress(OSError, subprocess.CalledProcessError):
                commit = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        elif path.is_file():
            commit = str(runpy.run_path(str(path))["COMMIT"])
        if editable:
            version, commit = version.partition("+")[0], ""
        path.write_text(f'VERSION = "{version}"\nCOMMIT = "{commit.strip()}"\n', "ascii")

    def _bundle(self, build_data: dict[str, Any]) -> None:
        if made := os.environ.get(WHEELS):
            wheels = sorted(Path(made).glob("footplate_reduction-*.whl"))
        else:
            wheels = self._compile()
            if wheels:
                build_data["pure_python"] = False
                build_data["tag"] = "-".join(wheels[0].stem.split("-")[-3:])
        for wheel in wheels:
            build_data["force_include"][str(wheel)] = f"{TARGET}/{wheel.name}"

    def _compile(self) -> list[Path]:
        if not runpy.run_path(str(Path(self.root, SOURCE, "hatch_build.py")))["find_compiler"]():
            self.app.display_warning(NO_REDUCTION)
            return []
        self._folder = tempfile.TemporaryDirectory()
        builder = WheelBuilder(str(Path(self.root, SOURCE)))
        return [Path(next(builder.build(directory=self._folder.name, versions=["standard"])))]

    def finalize(self, _: str, __: dict[str, Any], ___: str) -> None:
        if self._folder is not None:
            self._folder.cleanup()
