"""Runs a script that uses Google's SDK: ``python sdk_script.py SCRIPT``.

Tests fork it from a process that has imported the SDK. It stands alone: other Pythons run it, too,
which have nothing of this repository.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

COMMAND = "fork-server"

if __name__ == "__main__":
    checkout = str(Path(__file__).parents[2])
    words = sys.argv[1:]
    del sys.path[0]  # the modules beside this file hide others of their names
    if words[0] == COMMAND:
        sys.path.append(checkout)
        from google.cloud import aiplatform  # noqa: F401 - what takes long

        from tests.support.fork_server import serve_program

        words = serve_program()["words"]
        sys.path.remove(checkout)
    sys.argv = words
    sys.path.insert(0, str(Path(words[0]).parent))
    runpy.run_path(words[0], run_name="__main__")
