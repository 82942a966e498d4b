"""From submit to the first line of 1, 2 and 3 replicas on an engine, and 200 trivial jobs on Slurm.

Peers are the engine's own means in the same run: ``sbatch``, bare Pods, ``ray job submit``. Ours
and theirs take turns. ``engines.py slurm`` takes one engine only, ``--jobs 200`` many jobs of Slurm
instead of single ones, ``--keep-warm 60`` single ones in jobs of Slurm that wait so long for the
next, beside the same on this machine. Wants root; engines that aren't installed are left out.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from desk import BUCKET, CACHE, create, submit, upload
from engine_peers import ENGINES, PRINT, Slurm, wait_for_lines

from footplate.client.service import Service
from footplate.domain.job_states import State
from footplate.testing.service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine_peers import Peer

    from footplate.domain.names import GcsUri

REGION, HERE = "europe-west4", "us-central1"
SIZES = (1, 2, 3)
POLL_S = 0.05
STAY = "import time\ntime.sleep(5)\n"
"""The end of a master ends its workers: they are to print first."""


@contextmanager
def service(peer: Peer, keep_warm_s: int = 0) -> Iterator[Service]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        table = f'[[regions]]\nname = "{REGION}"\nscratch = "{folder}/scratch"\n'
        table += f"keep_warm_s = {keep_warm_s}\n" if keep_warm_s else ""
        (data / "footplate.toml").write_text(table + peer.region)
        os.environ.update(peer.environment)
        with (
            running_service(data, CACHE, cluster_address=f"{peer.host}:0") as running,
            Service(running.url) as client,
        ):
            client.storage.create_bucket("bench", BUCKET)
            yield client


def gang(replicas: int) -> dict[str, object]:
    if replicas == 1:
        return {"region": REGION}
    machine = "n1-standard-4"
    custom = {"scaleTier": "CUSTOM", "masterType": machine, "workerType": machine}
    return {"region": REGION, **custom, "workerCount": str(replicas - 1)}


def through_footplate(client: Service, replicas: int) -> float:
    started = time.perf_counter()
    name = submit(client, f"{PRINT}\n{STAY if replicas > 1 else ''}", **gang(replicas))
    lines = client.logs(name, follow=True)
    for _ in range(replicas):
        if next(lines, None) is None:
            sys.exit(f"{name} ended without a line: {client.job(name)}")
    took_s = time.perf_counter() - started
    while not client.job(name).state.terminal:
        time.sleep(POLL_S)
    return took_s


def compare(client: Service, peer: Peer, rounds: int) -> None:
    for size in SIZES:
        pairs = [(through_footplate(client, size), peer.start(size)) for _ in range(rounds)]
        ours, theirs = (statistics.median(times) * 1000 for times in zip(*pairs, strict=True))
        over = [(a - b) * 1000 for a, b in pairs]
        low, middle, high = statistics.quantiles(over, n=4)
        ratio = statistics.median(a / b for a, b in pairs)
        print(
            f"| `{peer.title}` | {size} | {ours:.0f} ms | {theirs:.0f} ms "
            f"| {middle:.0f} ms ({low:.0f} to {high:.0f}) | {ratio:.2f} |",
            flush=True,
        )


def time_line(client: Service, package: GcsUri, region: str) -> tuple[float, str]:
    """Returns the seconds from a job's POST to its first line, and where it ran."""
    started = time.perf_counter()
    name = create(client, package, region=region)
    next(client.logs(name, follow=True))
    took_s = time.perf_counter() - started
    while not client.job(name).state.terminal:
        time.sleep(POLL_S)
    return took_s, str(client.job(name).resource.get("engineJobs"))


def compare_warm(client: Service, peer: Peer, rounds: int) -> None:
    package = upload(client, f"{PRINT}\n")
    for region in (HERE, REGION):
        time_line(client, package, region)
    rows, places = [], []
    for _ in range(rounds):
        ours, place = time_line(client, package, REGION)
        rows.append((ours, peer.start(1), time_line(client, package, HERE)[0]))
        places.append(place)
    warm, theirs, here = (statistics.median(times) * 1000 for times in zip(*rows, strict=True))
    ratio = statistics.median(a / b for a, b, _ in rows)
    over = statistics.median(a - c for a, _, c in rows) * 1000
    print("| Footplate | `sbatch` | ratio | this machine | later, median | jobs of Slurm |")
    print("|---|---|---|---|---|---|")
    print(
        f"| {warm:.0f} ms | {theirs:.0f} ms | {ratio:.2f} | {here:.0f} ms | {over:.0f} ms "
        f"| {len(set(places))} |",
        flush=True,
    )


def run_many(client: Service, peer: Slurm, jobs: int, rounds: int) -> None:
    package = upload(client, f"{PRINT}\n")
    print("| round | jobs | Footplate | `sbatch` | ratio |\n|---|---|---|---|---|")
    for number in range(1, rounds + 1):
        started = time.perf_counter()
        names = [create(client, package, region=REGION) for _ in range(jobs)]
        for name in reversed(names):
            while (state := client.training_jobs.get(name).state) is not State.SUCCEEDED:
                assert not state.terminal, state
                time.sleep(POLL_S)
        ours = jobs / (time.perf_counter() - started)
        while peer.busy():
            time.sleep(POLL_S)
        started = time.perf_counter()
        outputs = [peer.submit() for _ in range(jobs)]
        while peer.busy():
            time.sleep(POLL_S)
        theirs = jobs / (time.perf_counter() - started)
        wait_for_lines(outputs, jobs)
        print(
            f"| {number} | {jobs} | {ours:.1f}/s | {theirs:.1f}/s | {ours / theirs:.2f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", help=", ".join(ENGINES))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--keep-warm", type=int, default=0)
    given = parser.parse_args()
    load = os.getloadavg()[0]
    only_slurm = given.jobs or given.keep_warm
    if not only_slurm:
        print("| peer | replicas | Footplate | peer | later, median (quartiles) | ratio |")
        print("|---|---|---|---|---|---|", flush=True)
    for name in given.engines or (["slurm"] if only_slurm else ENGINES):
        with ENGINES[name]() as peer:
            if peer is None:
                print(f"{name} is not installed here, and left out", file=sys.stderr)
                continue
            with service(peer, given.keep_warm) as client:
                through_footplate(client, 1)  # builds the environment
                if given.keep_warm:
                    compare_warm(client, peer, given.rounds)
                elif not isinstance(peer, Slurm) or not given.jobs:
                    compare(client, peer, given.rounds)
                else:
                    run_many(client, peer, given.jobs, given.rounds)
    print(f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after", file=sys.stderr)


if __name__ == "__main__":
    main()
