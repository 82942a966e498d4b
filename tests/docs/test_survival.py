"""The page on faults: its trainer passes its tests, as a user runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.docs.walk import CACHE, ROOT

PAGE = ROOT / "docs" / "how-to" / "prove-that-your-trainer-survives.md"
SERVICE = 'running_service(tmp_path / "footplate")'


def test_the_trainer_passes_its_tests(tmp_path: Path) -> None:
    """With the environments that other tests have built."""
    text = PAGE.read_text("utf-8")
    assert SERVICE in text
    text = text.replace(SERVICE, f"{SERVICE[:-1]}, {str(CACHE)!r})")
    blocks = re.findall(r"```python\n# (\S+)\n(.*?)```", text, re.DOTALL)
    for path, content in blocks:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    (tmp_path / "trainer" / "__init__.py").touch()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ("pytest", "-q", "-p", "no:cacheprovider", "test_survival.py")
    done = subprocess.run(
        (sys.executable, "-m", *command),
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
