"""From submit to the first line, with a cached environment; the peer starts a bare process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from desk import service, submit

ROUNDS = 15
SOURCE = "print('hello', flush=True)\n"


def through_footplate(client) -> float:
    started = time.perf_counter()
    name = submit(client, SOURCE)
    next(iter(client.logs(name, follow=True)))
    return time.perf_counter() - started


def bare_process() -> float:
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", SOURCE], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        return time.perf_counter() - started


def main() -> None:
    with service() as (_, client):
        through_footplate(client)  # builds the environment
        pairs = [(through_footplate(client), bare_process()) for _ in range(ROUNDS)]
    ours, peers = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"submit to first line  {ours * 1000:7.1f} ms")
    print(f"bare python process   {peers * 1000:7.1f} ms")
    print(f"ratio                 {ratio:7.1f}")


if __name__ == "__main__":
    main()
