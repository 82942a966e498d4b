"""The notes of a release are a part of the changelog."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support import ROOT
from tools.release_notes import find_notes

CHANGELOG = """\
# Changelog

All notable changes.

## Unreleased

## 1.1.0 (2026-12-24)

### Added
- One thing ([how](docs/one.md)).

## 1.0.0

- Another.
"""


@pytest.mark.parametrize(
    ("version", "notes"),
    [
        ("1.1.0", "### Added\n- One thing ([how](docs/one.md)).\n"),
        ("1.0.0", "- Another.\n"),
        ("Unreleased", ""),
        ("1.0", ""),
    ],
)
def test_notes_are_what_stands_below_the_heading(version: str, notes: str) -> None:
    assert find_notes(CHANGELOG, version) == notes


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "release_notes.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_links_to_files_begin_elsewhere() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = [part.split()[0] for part in text.split("\n## ")[1:]]
    version = next(name for name in headings if "](docs/" in find_notes(text, name))
    done = run(version, "--links=https://example.com/v1/")
    assert (done.returncode, done.stderr) == (0, "")
    assert "](https://example.com/v1/docs/" in done.stdout
    assert "](docs/" not in done.stdout


def test_a_version_without_notes_is_an_error() -> None:
    done = run("0.0.1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "CHANGELOG.md has nothing below a heading '## 0.0.1'\n"
