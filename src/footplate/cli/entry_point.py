"""The console script. Handles Ctrl-C even while imports run."""

from __future__ import annotations

import os
import sys

_STDOUT, _STDERR = 1, 2
_INTERRUPTED = 130


def main() -> None:
    _open_what_is_closed()
    try:
        # Imported here: that is what takes its time.
        from footplate.cli.main import main as footplate

        footplate()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _open_what_is_closed() -> None:
    """Opens closed standard streams, as after ``>&-``; the next file would get their numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdout = sys.stdout or os.fdopen(_STDOUT, "w")
    sys.stderr = sys.stderr or os.fdopen(_STDERR, "w")


if __name__ == "__main__":
    main()
