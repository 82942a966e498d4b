"""The driver of a Ray job: reserves a place for each launcher, all or none, and runs them.

It is a file of its own on the cluster, where nothing of ours is installed; Ray is. Its death, or
``ray job stop``, frees the places and ends the launchers.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

SET_PDEATHSIG = 1


def launch(rank: int, program: bytes, variables: dict[str, str]) -> int:
    """Run one launcher to its end; return its exit status."""
    names = dict(variables)
    names["FOOTPLATE_RANK"] = str(rank)
    names["FOOTPLATE_NODE"] = ray.util.get_node_ip_address()
    libc = ctypes.CDLL(None)
    launcher = subprocess.Popen(
        [sys.executable, "-I", "-"],
        stdin=subprocess.PIPE,
        env={**os.environ, **names},
        preexec_fn=lambda: libc.prctl(SET_PDEATHSIG, signal.SIGTERM),
        start_new_session=True,
    )
    launcher.communicate(program)
    return launcher.returncode


def main() -> None:
    with open("job.json") as file:
        job = json.load(file)
    with open("program.py", "rb") as file:
        program = file.read()
    ray.init(log_to_driver=False)
    group = placement_group(job["bundles"], strategy=job["strategy"], name=job["name"])
    ray.get(group.ready())
    runs = []
    for rank, bundle in enumerate(job["bundles"]):
        others = {k: v for k, v in bundle.items() if k not in ("CPU", "GPU", "memory")}
        place = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=rank)
        run = ray.remote(launch).options(
            num_cpus=bundle.get("CPU", 0),
            num_gpus=bundle.get("GPU", 0),
            memory=bundle.get("memory"),
            resources=others,
            max_retries=0,
            scheduling_strategy=place,
        )
        runs.append(run.remote(rank, program, {"FOOTPLATE_JOB": job["name"]}))
    failed = 0
    for run in runs:
        try:
            ray.get(run)
        except ray.exceptions.RayError as error:
            failed += 1
            sys.stderr.write(f"{error}\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
