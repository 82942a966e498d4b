"""Prints what the changelog says of a version: ``python tools/release_notes.py 1.0.0``.

Its heading is ``## 1.0.0``, with or without a date behind it. ``--links URL`` lets links to files
of the repository begin there, since they are read elsewhere.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"
_HEADING = re.compile(r"^## (\S+).*$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|#)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--links", default="", metavar="URL", help="where links to files begin")
    options = parser.parse_args()
    notes = find_notes(CHANGELOG.read_text("utf-8"), options.version)
    if not notes:
        sys.exit(f"CHANGELOG.md has nothing below a heading '## {options.version}'")
    sys.stdout.write(_LINK.sub(f"]({options.links}", notes))


def find_notes(changelog: str, version: str) -> str:
    """Returns what stands below the heading of a version; '' if nothing does."""
    _, *parts = _HEADING.split(changelog)
    texts = dict(zip(parts[::2], parts[1::2], strict=True))
    text = texts.get(version, "").strip()
    return f"{text}\n" if text else ""


if __name__ == "__main__":
    main()
