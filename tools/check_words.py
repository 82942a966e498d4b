"""Keeps retired words out of the code, the tests and the documentation.

Each stands for a part of the service that has a standard name since (docs/architecture.md).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACES = ("src", "reduction", "tests", "docs")
SUFFIXES = (".py", ".md")
RETIRED = {
    "agenda": "work queue",
    "cage": "containment",
    "courier": "report client",
    "errand": "background task",
    "happenings": "events",
    "keeper": "controller",
    "lapses": "elapsed time",
    "mishap": "unexpected end",
    "newborn": "forked child",
    "nursery": "fork server",
    "rung": "containment mode",
    "seclusion": "build isolation",
    "sighting": "observation",
    "telltale": "recognised keys",
    "veil": "hidden paths",
    "whereabouts": "server address",
}
_WORD = re.compile(rf"(?<![a-z])({'|'.join(RETIRED)})s?(?![a-z])", re.IGNORECASE)


def main() -> int:
    found: list[str] = []
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for match in _WORD.finditer(f"{path.stem} {line}" if number == 1 else line):
                    word = match.group(1).lower()
                    where = path.relative_to(ROOT)
                    found.append(
                        f"{where}:{number}: {match.group(0)!r} is retired: {RETIRED[word]}"
                    )
    sys.stdout.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
