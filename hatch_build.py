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
"""Where ``footplate.server.replica_services`` looks for it."""
PURE = "py3-none-any"


class BundleHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node, where it is missing and needed."""
        console = self._console()
        have = console["is_built"]() or console["npm_command"]()
        return [] if have else [console["NODE_PACKAGE"]]

    def _console(self) -> dict[str, Any]:
        return runpy.run_path(str(Path(self.root, "console", "build.py")))

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Where the inner wheel is for one platform, the outer one is, too."""
        if version == "editable":
            return
        self._console()["build"]()
        self._folder = tempfile.TemporaryDirectory()
        builder = WheelBuilder(str(Path(self.root, SOURCE)))
        wheel = Path(next(builder.build(directory=self._folder.name, versions=["standard"])))
        build_data["force_include"][str(wheel)] = f"{TARGET}/{wheel.name}"
        tag = "-".join(wheel.stem.split("-")[-3:])
        if tag != PURE:
            build_data["pure_python"] = False
            build_data["tag"] = tag

    def finalize(self, version: str, _: dict[str, Any], __: str) -> None:
        if version != "editable":
            self._folder.cleanup()
