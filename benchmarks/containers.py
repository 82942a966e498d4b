"""From submit to the first line of a container, of an image that the engine has.

Peer: ``podman run`` and ``docker run`` of the same image on the same engine, until its line comes.
Wants root, and one of the two engines; each that is installed is measured.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from desk import service

from tests.support.engines import (
    make_python_image,
    missing_programs,
    private_dockerd,
    private_podman,
)

if TYPE_CHECKING:
    from footplate.client.service import Service
    from tests.support.engines import PrivateEngine

ROUNDS = 10
IMAGE = "trainers/python:dev"
COMMAND = ("python3", "-c", "print('hello', flush=True)")
REGION = "us-central1"
ENGINES = ((private_podman, ("podman",)), (private_dockerd, ("dockerd", "docker")))


def through_footplate(client: Service) -> float:
    started = time.perf_counter()
    pool = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
        "containerSpec": {"imageUri": IMAGE, "command": [*COMMAND]},
    }
    job = {"displayName": "container", "jobSpec": {"workerPoolSpecs": [pool]}}
    name = client.custom_jobs.create("bench", REGION, job).name
    next(iter(client.logs(name, follow=True)))
    return time.perf_counter() - started


def bare(engine: PrivateEngine) -> float:
    """By the engine's own command line, with the network that jobs have."""
    started = time.perf_counter()
    words = (engine.kind, "run", "--rm", "--network=host", IMAGE, *COMMAND)
    environment = {**os.environ, **engine.environment, "DOCKER_HOST": engine.url}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as process:
        process.stdout.readline()
        return time.perf_counter() - started


def measure(engine: PrivateEngine) -> None:
    make_python_image(engine.socket, IMAGE)
    with service(container_engine=engine.socket) as (_, client):
        through_footplate(client)
        bare(engine)
        rounds = [(through_footplate(client), bare(engine)) for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(times) for times in zip(*rounds, strict=True))
    over = statistics.median(a - b for a, b in rounds)
    ratio = statistics.median(a / b for a, b in rounds)
    row = (f"{ours * 1000:.0f} ms", f"{theirs * 1000:.0f} ms", f"{over * 1000:.0f} ms")
    print(f"| `{engine.kind} run` | {' | '.join(row)} | {ratio:.2f} |", flush=True)


def main() -> None:
    print("| peer | submit to first line | peer to first line | over peer | ratio |")
    print("|---|---|---|---|---|", flush=True)
    for make, programs in ENGINES:
        if missing_programs(*programs) is not None:
            continue
        with (
            tempfile.TemporaryDirectory() as folder,
            make(Path(folder) / "engine") as engine,
        ):
            measure(engine)


if __name__ == "__main__":
    main()
