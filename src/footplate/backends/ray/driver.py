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
from typing import Any

import ray
from ray.util.placement_group import (
    placement_group,
    placement_group_table,
    remove_placement_group,
)
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

SET_PDEATHSIG = 1
TITLE_ROOM = " " * 512
"""As in ``footplate.protocol.launcher``, which the cluster doesn't have."""
PIN_S = 10.0
"""How long the places of a gang may take that were free just now."""
CHECK_S = 10.0
"""How often is looked whether a launcher that hasn't started has lost its node."""


def launch(rank: int, program: bytes, variables: dict[str, str]) -> int:
    """Runs one launcher to its end; returns its exit status."""
    names = dict(variables)
    names["FOOTPLATE_RANK"] = str(rank)
    names["FOOTPLATE_NODE"] = ray.util.get_node_ip_address()
    libc = ctypes.CDLL(None)
    launcher = subprocess.Popen(
        [sys.executable, "-I", "-S", "-", TITLE_ROOM],
        stdin=subprocess.PIPE,
        env={**os.environ, **names},
        preexec_fn=lambda: libc.prctl(SET_PDEATHSIG, signal.SIGTERM),
        start_new_session=True,
    )
    launcher.communicate(program)
    return launcher.returncode


def reserve(job: dict[str, Any]) -> tuple[Any, list[str | None]]:
    """Reserves a place for each launcher, or none; returns the placement group, and the node of
    each.

    Ray moves a dead node's places to another node, and keeps them there while the gang continues
    without them, so a replica that restarts elsewhere might find no room. Therefore the places are
    bound to the nodes that Ray chose. The job of a single launcher ends with its node.
    """
    bundles, strategy = job["bundles"], job["strategy"]
    while True:
        group = placement_group(bundles, strategy=strategy, name=job["name"])
        ray.get(group.ready())
        if len(bundles) == 1:
            return group, [None]
        addresses = {node["NodeID"]: node["NodeManagerAddress"] for node in ray.nodes()}
        chosen = placement_group_table(group)["bundles_to_node_id"]
        nodes = [addresses[chosen[rank]] for rank in range(len(bundles))]
        remove_placement_group(group)
        # Each node has 1 of the resource named after it: a small part of it binds a place to the
        # node, and leaves enough for all others.
        bound = [{**b, f"node:{nodes[rank]}": 0.001} for rank, b in enumerate(bundles)]
        group = placement_group(bound, strategy=strategy, name=f"{job['name']} (bound)")
        if group.wait(PIN_S):
            return group, nodes
        remove_placement_group(group)  # another was faster


def wait(runs: dict[Any, str | None]) -> int:
    """Waits for all launchers; returns how many failed. ``runs`` has each one's node."""
    failed = 0
    while runs:
        done, _ = ray.wait(list(runs), timeout=CHECK_S)
        for run in done:
            del runs[run]
            try:
                ray.get(run)
            except ray.exceptions.RayError as error:
                failed += 1
                sys.stderr.write(f"{error}\n")
        alive = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
        for run, node in list(runs.items()):
            if node is not None and node not in alive:
                ray.cancel(run, force=True)
    return failed


def main() -> None:
    with open("job.json") as file:
        job = json.load(file)
    with open("program.py", "rb") as file:
        program = file.read()
    ray.init(log_to_driver=False)
    group, nodes = reserve(job)
    runs = {}
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
        variables = {**job["variables"], "FOOTPLATE_JOB": job["name"]}
        runs[run.remote(rank, program, variables)] = nodes[rank]
    sys.exit(1 if wait(runs) else 0)


if __name__ == "__main__":
    main()
