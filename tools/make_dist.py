"""Makes what a release consists of, from the last commit: ``make dist``.

In ``dist`` lie the wheel of footplate, for all platforms, the wheels of footplate-reduction for
Linux on x86-64 and aarch64, both source distributions, and the checksums of these. zig compiles
for both machines, against the glibc of 2012 (2.17) and with its own C++ library inside. The same
commit makes the same bytes: all times in the archives are the commit's.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENDOR = Path("src", "footplate", "console", "static", "vendor")
GLIBC = (2, 17)
MACHINES = ("x86_64", "aarch64")
PACKAGES = {
    "footplate": "footplate,footplate_algorithms",
    "footplate_reduction": "footplate_reduction",
}
WHEEL_MAX_BYTES = 8 << 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder, emptied first")
    dist = parser.parse_args().to.resolve()
    commit = git("rev-parse", "HEAD")
    if git("status", "--porcelain"):
        sys.stderr.write(f"make dist: uncommitted changes are left out: dist is of {commit[:12]}\n")
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "footplate")
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(clone)], check=True)
        shutil.copytree(ROOT / VENDOR, clone / VENDOR)
        made = build(clone, dist, git("log", "-1", "--format=%ct"))
    check(made)
    sums = (f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(made))
    dist.joinpath("SHA256SUMS").write_text("".join(sums), "ascii")
    for path in made:
        sys.stdout.write(f"{path.stat().st_size:>10,}  {path}\n")


def git(*words: str) -> str:
    """Returns what git says of the checkout."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True)
    return done.stdout.decode().strip()


def build(clone: Path, dist: Path, epoch: str) -> list[Path]:
    """Builds from a clone, so that no file of the checkout gets in and none of it is changed."""
    reduction = clone / "reduction"
    made = [
        # Before the wheels: these leave their library in the folder.
        run_hatchling(reduction, "sdist", dist, epoch),
        run_hatchling(clone, "sdist", dist, epoch),
        *(build_reduction(reduction, machine, dist, epoch) for machine in MACHINES),
    ]
    wheels = {"FOOTPLATE_REDUCTION_WHEELS": str(dist)}
    return [*made, run_hatchling(clone, "wheel", dist, epoch, **wheels)]


def build_reduction(folder: Path, machine: str, dist: Path, epoch: str) -> Path:
    """Compiles the library for a kind of machine, and packs it."""
    version = ".".join(map(str, GLIBC))
    compiler = f"{sys.executable} -m ziglang c++ -target {machine}-linux-gnu.{version} -s"
    variables = {
        "CXX": compiler,
        "FOOTPLATE_REDUCTION_PLATFORM": f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}",
    }
    return run_hatchling(folder, "wheel", dist, epoch, **variables)


def run_hatchling(folder: Path, target: str, to: Path, epoch: str, **variables: str) -> Path:
    """Builds one file and returns its path."""
    before = set(to.glob("*"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(to)]
    environ = {**os.environ, "SOURCE_DATE_EPOCH": epoch, **variables}
    done = subprocess.run(
        command, cwd=folder, env=environ, check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} in {folder.name}:\n{done.stdout}{done.stderr}")
    (made,) = set(to.glob("*")) - before
    return made


def check(made: list[Path]) -> None:
    """Checks the metadata, the contents of the wheels, and what their libraries need."""
    run = [sys.executable, "-m"]
    subprocess.run([*run, "twine", "check", "--strict", *map(str, made)], check=True)
    wheels = [path for path in made if path.suffix == ".whl"]
    for wheel in wheels:
        packages = PACKAGES[wheel.name.partition("-")[0]]
        contents = [*run, "check_wheel_contents", f"--toplevel={packages}", str(wheel)]
        subprocess.run(contents, check=True)
        if "manylinux" in wheel.name:
            show = [*run, "auditwheel", "show", str(wheel)]
            done = subprocess.run(show, check=True, capture_output=True, text=True)
            if f'"{wheel.stem.split("-")[-1]}"' not in done.stdout:
                raise SystemExit(f"{wheel.name} needs more than its name says:\n{done.stdout}")
        if wheel.stat().st_size > WHEEL_MAX_BYTES:
            raise SystemExit(f"{wheel.name} has more than {WHEEL_MAX_BYTES:,} bytes")


if __name__ == "__main__":
    main()
