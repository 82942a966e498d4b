"""Where the program begins: Ctrl-C ends it cleanly even while it is still being loaded."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> None:
    try:
        # Imported here: that is what takes its time.
        from footplate.cli.main import main as footplate

        footplate()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
