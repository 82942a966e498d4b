"""Prints the tests that failed in the last run, one a line, as ``pytest @FILE`` reads them.

``--last-failed`` does not find those whose names have a group. Exits with 1 if there is none.
"""

from __future__ import annotations

import json
import sys

from tests.support import ROOT
from tests.support.durations import plain_name

FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"


def main() -> int:
    failed = json.loads(FAILED.read_text(encoding="utf-8")) if FAILED.exists() else {}
    sys.stdout.writelines(f"{plain_name(each)}\n" for each in failed)
    return 0 if failed else 1


if __name__ == "__main__":
    sys.exit(main())
