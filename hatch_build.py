"""Puts the wheel of footplate-reduction into the wheel of footplate, and the console's scripts.

Workers and reduction servers install it in environments of their own; the service only hands it
out. An editable installation has none: it needs ``pip install -e reduction`` as well, and
``make console``.
"""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilder

SOURCE = "reduction"
TARGET = "footplate/server"
"""Where ``footplate.server.wheels`` looks for it."""
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
        """The inner wheel is for one platform, so the outer one is, too. Without a C++ compiler
        there is no inner wheel, and the service refuses the jobs that need it.
        """
        if version == "editable":
            return
        self._console()["build"]()
        if not runpy.run_path(str(Path(self.root, SOURCE, "hatch_build.py")))["find_compiler"]():
            self.app.display_warning(NO_REDUCTION)
            return
        self._folder = tempfile.TemporaryDirectory()
        builder = WheelBuilder(str(Path(self.root, SOURCE)))
        wheel = Path(next(builder.build(directory=self._folder.name, versions=["standard"])))
        build_data["force_include"][str(wheel)] = f"{TARGET}/{wheel.name}"
        build_data["pure_python"] = False
        build_data["tag"] = "-".join(wheel.stem.split("-")[-3:])

    def finalize(self, _: str, __: dict[str, Any], ___: str) -> None:
        if self._folder is not None:
            self._folder.cleanup()
