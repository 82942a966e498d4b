"""The README is short, and prints what its first session shows."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.docs.walk import BLOCK, ROOT, type_out

README = (ROOT / "README.md").read_text("utf-8")
MOST_LINES = 150
MOST_OF_SESSION = 25


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    assert README.count("![") == 1


def test_its_session(tmp_path: Path) -> None:
    """In the example's folder, beside a service with a bucket."""
    language, session = BLOCK.findall(README)[0]
    assert language == "console"
    assert len(session.splitlines()) <= MOST_OF_SESSION
    shutil.copytree(ROOT / "examples" / "digits", tmp_path / "digits")
    begin = "$ footplate up\n$ cd digits\n$ footplate storage buckets create gs://my-bucket\n"
    type_out(f"```console\n{begin}{session}```\n", tmp_path)
