"""Runs the cases of scripts, one after the other: ``python case_runner.py SCRIPT...``.

It stands alone: other Pythons run it, too, which have nothing of this repository.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import runpy
import sys
import traceback


def main(script: str) -> None:
    for name, case in runpy.run_path(script).items():
        if not name.startswith("case_"):
            continue
        error = ""
        try:
            if inspect.iscoroutinefunction(case):
                asyncio.run(case())
            else:
                case()
        except Exception:
            error = traceback.format_exc()
        report = {"script": script, "case": name[len("case_") :], "error": error}
        print(">", json.dumps(report), flush=True)


if __name__ == "__main__":
    del sys.path[0]  # the modules beside this file hide others of their names
    for script in sys.argv[1:]:
        main(script)
