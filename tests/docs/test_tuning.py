"""The page on tuning: its files and commands do what it says, as a user pastes them."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from footplate.testing import running_service
from tests.docs.walk import CACHE, ROOT

PAGE = ROOT / "docs" / "how-to" / "tune-hyperparameters.md"
FILE = re.compile(r"```(?:python|yaml)\n# (\S+)\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def test_a_user_pastes_it(tmp_path: Path) -> None:
    text = PAGE.read_text("utf-8")
    for path, content in FILE.findall(text):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    (tmp_path / "trainer" / "__init__.py").touch()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with running_service(tmp_path / "footplate", CACHE) as service:
        for block in CONSOLE.findall(text):
            script = "set -e\n" + block.replace("\n$ ", "\n").removeprefix("$ ")
            done = subprocess.run(
                ("bash", "-c", script),
                cwd=tmp_path,
                env=service.environment(PATH=path),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, script + done.stdout + done.stderr
    found = list(csv.DictReader((tmp_path / "trials.csv").read_text().splitlines()))
    assert [row["state"] for row in found] == ["SUCCEEDED"] * 6
    assert all(row["step"] == "5" for row in found)
    curves = list(csv.DictReader((tmp_path / "curves.csv").read_text().splitlines()))
    assert len(curves) == 6 * 5
    best = json.loads((tmp_path / "trials.json").read_text())["best"]
    assert [int(row["trial"]) for row in found if row["best"] == "true"] == best
