"""Finds py-spy, which reads stacks of Python processes."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path


def find_py_spy() -> Path | None:
    """That of this installation, else the first in PATH; None: there is none."""
    own = sysconfig.get_path("scripts")
    found = shutil.which("py-spy", path=os.pathsep.join((own, os.environ.get("PATH", ""))))
    return None if found is None else Path(found).absolute()
