"""Modules named in pages exist: `domain.lifecycle`, `control/jobs.py`, `store.jobs.SqlStore`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "footplate"
PACKAGES = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
NAME = re.compile(r"`(?:footplate\.)?([a-z_0-9]+(?:[./]\w+)+)`")
OTHERS = {"console/echarts.mjs", "logs/validation", "server.json"}
"""What looks like a module: a script, a folder of event files, a file of the data directory."""
METHODS = {
    ROOT / "docs" / "reference" / name for name in ("api.md", "clients.md", "google-methods.md")
}
"""Their names are those of APIs: `buckets.list`."""
DOCS = sorted({*(ROOT / "docs").rglob("*.md")} - METHODS)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]


def exists(name: str) -> bool:
    parts = name.removesuffix(".py").replace("/", ".").split(".")
    for end in range(len(parts), 0, -1):
        path = SOURCE.joinpath(*parts[:end])
        file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
        if file.exists():
            return (
                end == len(parts) or re.search(rf"\b{parts[end]}\b", file.read_text()) is not None
            )
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_exist(page: Path) -> None:
    named = {
        name for name in NAME.findall(page.read_text()) if re.split("[./]", name)[0] in PACKAGES
    }
    assert [name for name in sorted(named - OTHERS) if not exists(name)] == []


def test_a_module_that_is_gone_is_found() -> None:
    assert exists("domain.lifecycle")
    assert exists("store/jobs.py")
    assert exists("store.jobs.SqlStore")
    assert not exists("store.jobs.Missing")
    assert not exists("domain.timeline")
