"""The page on loops of one's own: its script finds good values, run as its reader runs it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from footplate.testing.service import running_service
from tests.support.forked_process import run_footplate

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tune-your-own-loop.md"


def test_the_loop_finds_good_values(tmp_path: Path) -> None:
    found = re.search(r"```python\n# (\S+)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    (tmp_path / found[1]).write_text(found[2])
    with running_service(tmp_path / "data") as service:
        environment = service.environment(HOME=str(tmp_path))
        words = ("run", "--", sys.executable, found[1])
        done = run_footplate(*words, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    *trials, best = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in trials] == [f"trial {n}" for n in range(1, 21)]
    assert float(best.rpartition(" ")[2]) < 0.1
