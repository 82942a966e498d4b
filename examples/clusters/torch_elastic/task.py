"""Start torchrun on each node; the nodes meet at one of the open ports of CLUSTER_SPEC."""

import argparse
import json
import os
import pathlib
import sys

import torch
from torch import distributed


def find_path(uri):
    """Where a gs:// address is a file: buckets are mounted at /gcs, on Vertex AI and here."""
    return uri.replace("gs://", "/gcs/", 1)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes-per-node", type=int, default=2)
    parser.add_argument("--model-dir", type=find_path, default=os.environ.get("AIP_MODEL_DIR", "."))
    parser.add_argument("--rank-of-torchrun", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def launch(args):
    """Become torchrun, which starts this module again for each rank of this node."""
    spec = json.loads(os.environ["CLUSTER_SPEC"])
    cluster, task = spec["cluster"], spec["task"]
    nodes = [address for pool in sorted(cluster) for address in cluster[pool]]
    first, mine = (
        address.rpartition(":")[0] for address in (nodes[0], cluster[task["type"]][task["index"]])
    )
    options = {
        "nnodes": len(nodes),
        "nproc-per-node": args.processes_per_node,
        "rdzv-backend": "c10d",
        "rdzv-endpoint": f"{first}:{spec['open_ports'][0]}",
        "rdzv-id": os.environ["CLOUD_ML_JOB_ID"],
        "local-addr": mine,
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    program = [__file__, "--rank-of-torchrun", f"--model-dir={args.model_dir}"]
    command = [sys.executable, "-m", "torch.distributed.run", *flags, *program]
    print("torchrun", *flags, flush=True)
    os.execv(sys.executable, command)  # noqa: S606


def work(args):
    """Each rank gives its square; all get the sum."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    try:
        add_squares(args)
    finally:
        distributed.destroy_process_group()


def add_squares(args):
    rank, size = distributed.get_rank(), distributed.get_world_size()
    total = torch.tensor([rank**2])
    distributed.all_reduce(total)
    nodes = [None] * size
    distributed.all_gather_object(nodes, int(os.environ["GROUP_RANK"]))
    print(f"rank {rank} of {size}: {total.item()}", flush=True)
    if rank == 0:
        folder = pathlib.Path(args.model_dir)
        folder.mkdir(parents=True, exist_ok=True)
        report = {"sum": total.item(), "nodes": nodes}
        (folder / "report.json").write_text(json.dumps(report))
    distributed.barrier()


if __name__ == "__main__":
    arguments = parse_args()
    if arguments.rank_of_torchrun:
        work(arguments)
    else:
        launch(arguments)
