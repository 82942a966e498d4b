"""Says of each example of a client whether it passed: for the scripts that run them.

The client's own Python imports it, of any version from 3.7: the standard library alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import traceback
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_LONGEST = 300


def tell(name: str, failure: object = None) -> None:
    """Record an example: ``failure`` is what was wrong, in a line; None: it passed."""
    said = None if failure is None else (" ".join(str(failure).split()) or "failed")[:_LONGEST]
    line = json.dumps({"example": name, "failure": said})
    with open(os.environ["RESULTS"], "a", encoding="utf-8") as file:
        file.write(line + "\n")
    sys.stderr.write("%s %s %s\n" % (time.strftime("%H:%M:%S"), name, said or "passed"))


@contextmanager
def example(name: str) -> Iterator[None]:
    """Record the block as an example, which fails where it raises anything."""
    try:
        yield
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        tell(name, "%s: %s" % (type(error).__name__, error))
    else:
        tell(name)


def run_example(name: str, command: Sequence[str], limit_s: float = 600, **more: Any) -> str:
    """Run a command as an example, which fails where the command does; return what it printed."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit_s, **more
        )
    except subprocess.TimeoutExpired as error:
        tell(name, "not ended after %d s" % limit_s)
        return (error.stdout or b"").decode(errors="replace")
    output: str = done.stdout.decode(errors="replace")
    if done.returncode:
        sys.stderr.write(output)
        last = [line for line in output.splitlines() if line.strip()] or ["no output"]
        tell(name, "exit status %d: %s" % (done.returncode, last[-1]))
    else:
        tell(name)
    return output
