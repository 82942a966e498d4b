"""A run that was killed doesn't fail the later ones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_what_a_killed_run_left_mounted_goes(tmp_path: Path) -> None:
    left = tmp_path / "pytest-of-root" / "pytest-0"
    (left / "mounted").mkdir(parents=True, mode=0o700)
    for number in (1, 2, 3):
        left.with_name(f"pytest-{number}").mkdir()
    left.parent.chmod(0o700)
    test = f"{sys.executable} -m pytest -q tests/unit/support/test_durations.py -k add_to_what"
    mounted = f"grep {left.parent} /proc/mounts"
    script = f"mount -t tmpfs none {left}/mounted && {test} && {test} && ! {mounted}"
    done = subprocess.run(
        ("unshare", "--mount", "sh", "-c", script),
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(left.parent.glob("garbage-*"))
