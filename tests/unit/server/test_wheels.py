"""The wheel with which jobs of built-in algorithms get their programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from footplate.server.wheels import algorithms_wheel


def test_the_same_files_make_the_same_wheel() -> None:
    assert algorithms_wheel().sha256 == algorithms_wheel().sha256


def test_it_runs_where_it_is_installed(tmp_path: Path) -> None:
    """Without the service: the program says what is wrong with its arguments."""
    wheel = algorithms_wheel()
    file = tmp_path / wheel.name
    file.write_bytes(wheel.open().read())
    target = tmp_path / "there"
    install = ["uv", "pip", "install", "-q", "--no-deps", "--offline", "--target", str(target)]
    subprocess.run([sys.executable, "-m", *install, str(file)], check=True)

    code = (
        f"import sys; sys.path[:] = [{str(target)!r}, *sys.path]; import runpy;"
        "sys.argv[1:] = ['boosted_trees', '--job-dir', 'out'];"
        "runpy.run_module('footplate_algorithms', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr == "required by boosted_trees: --training_data_path\n"
