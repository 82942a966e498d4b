"""What of a source tree is taken along."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.cli.packaging.archive import copy_tree, read_tree

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name in ("a.py", "sub/b.txt", "__pycache__/a.pyc", ".git/HEAD", "venv/pyvenv.cfg", "c.pyc"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "sub" / "up").symlink_to(root, target_is_directory=True)
    (root / "linked").symlink_to(root / "sub" / "b.txt")
    (root / "dangling").symlink_to(root / "nothing")
    os.mkfifo(root / "pipe")
    return root


def test_sources_without_caches_repositories_and_circles(tree: Path) -> None:
    found = read_tree(tree)
    assert sorted(found) == ["a.py", "linked", "run.sh", "sub/b.txt"]
    assert found["linked"].content == b"sub/b.txt"
    assert [name for name, source in found.items() if source.executable] == ["run.sh"]


def test_a_copy_to_build_in_keeps_the_repository(tree: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy_tree(tree, copy)
    files = sorted(str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file())
    assert files == [".git/HEAD", "a.py", "linked", "run.sh", "sub/b.txt"]
