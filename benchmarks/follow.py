"""How late a printed line is at ``footplate ai-platform jobs stream-logs``, beside ``tail -f``.

Programs print the time: a line now and then, and bursts. Both start before the first line.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from desk import service, submit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.client.service import Service
    from footplate.testing.service import RunningService

KINDS = {
    "a line each 0.5 s": (1, 0.5, 30),
    "20 lines a second": (1, 0.05, 200),
    "1,000 lines a second": (50, 0.05, 200),
}
"""Lines at once, seconds from one time to the next, how often."""
SOURCE = """
import time
time.sleep(1.5)
for _ in range({times}):
    for _ in range({lines}):
        print("printed", repr(time.time()), flush=True)
    time.sleep({pause})
"""
FOOTPLATE = "from footplate.cli.main import main; main()"


def lateness(command: Sequence[str], environment: dict[str, str] | None, count: int) -> list[float]:
    """Seconds from print to arrival of the first ``count`` lines that ``command`` shows."""
    found = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        for line in process.stdout:
            _, told, text = line.rpartition("printed ")
            if told:
                found.append(time.time() - float(text.strip()))
            if len(found) == count:
                break
        process.terminate()
    return sorted(found)


def through_footplate(
    running: RunningService, client: Service, source: str, count: int
) -> list[float]:
    name = submit(client, source)
    follow = ("ai-platform", "jobs", "stream-logs", name.job_id, "--project", name.project)
    command = (sys.executable, "-c", FOOTPLATE, *follow)
    return lateness(command, running.environment(), count)


def through_tail(source: str, count: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        with path.open("wb") as log:
            program = subprocess.Popen((sys.executable, "-c", source), stdout=log)
            threading.Thread(target=program.wait, daemon=True).start()
            return lateness(("tail", "-f", str(path)), None, count)


def describe(times: list[float]) -> str:
    late = times[math.ceil(0.99 * len(times)) - 1]
    return f"{statistics.median(times) * 1e3:.1f} ms | {late * 1e3:.1f} ms"


def main() -> None:
    print("| lines | seen | median | 99% | tail -f | 99% |")
    print("|---|---|---|---|---|---|")
    with service() as (running, client):
        list(client.logs(submit(client, "print(1)"), follow=True))  # builds the environment
        for kind, (lines, pause, times) in KINDS.items():
            source = SOURCE.format(lines=lines, pause=pause, times=times)
            ours = through_footplate(running, client, source, lines * times)
            theirs = through_tail(source, lines * times)
            seen = f"{len(ours):,} of {lines * times:,}"
            print(f"| {kind} | {seen} | {describe(ours)} | {describe(theirs)} |", flush=True)


if __name__ == "__main__":
    main()
