"""Prints the tests that failed in the last run, one a line, as ``pytest @FILE`` reads them.

Workers add the group to the name of a test that has one (``NAME@GROUP``); ``--last-failed`` does
not find those. Exits with 1 if there is none.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FAILED = Path(__file__).parent.parent / ".pytest_cache" / "v" / "cache" / "lastfailed"


def name_of(failed: str) -> str:
    """Without the group, which follows the last bracket or name."""
    name, at, group = failed.rpartition("@")
    return name if at and "]" not in group else failed


def main() -> int:
    failed = json.loads(FAILED.read_text(encoding="utf-8")) if FAILED.exists() else {}
    sys.stdout.writelines(f"{name_of(each)}\n" for each in failed)
    return 0 if failed else 1


if __name__ == "__main__":
    sys.exit(main())
