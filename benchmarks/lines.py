"""A program prints as fast as it can: through the whole service, against into a file.

Also the size of a supervisor meanwhile, from /proc.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from desk import service, submit

LINES = (20_000, 100_000, 400_000)
SOURCE = """
for number in range({lines}):
    print("line", number, "of a program that prints as fast as it can, epoch 3, loss 0.123")
"""


def through_footplate(client, lines: int) -> tuple[float, int]:
    """Seconds from the first line to the last that the service has kept; peak supervisor kB."""
    name = submit(client, SOURCE.format(lines=lines))
    started, seen, peak = 0.0, 0, 0
    for _ in client.logs(name, follow=True):
        started = started or time.perf_counter()
        seen += 1
        if seen % 5000 == 0:
            peak = max(peak, supervisor_kb())
    assert seen == lines, f"{seen} of {lines} lines"
    return time.perf_counter() - started, peak


def supervisor_kb() -> int:
    """Resident memory of the supervisor that runs just now; 0 where there is no /proc."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
            status = (folder / "status").read_text()
        except OSError:
            continue
        if b"run" in command and any(word.endswith(b".pyz") for word in command):
            return int(status.partition("VmRSS:")[2].split()[0])
    return 0


def into_file(lines: int) -> float:
    started = time.perf_counter()
    with tempfile.TemporaryFile() as file:
        subprocess.run([sys.executable, "-c", SOURCE.format(lines=lines)], stdout=file, check=True)
    return time.perf_counter() - started


def main() -> None:
    print(f"{'lines':>8} {'service':>10} {'file':>10} {'ratio':>7} {'lines/s':>9} {'RSS':>9}")
    with service() as (_, client):
        through_footplate(client, 1000)
        for lines in LINES:
            ours, peak = through_footplate(client, lines)
            peer = statistics.median(into_file(lines) for _ in range(3))
            print(
                f"{lines:8} {ours:8.2f} s {peer:8.2f} s {ours / peer:7.1f}"
                f" {lines / ours:9.0f} {peak:6} kB"
            )


if __name__ == "__main__":
    main()
