"""Fit a small network by data-parallel PyTorch, whose gradients reduction servers average.

MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE say who is in it; FOOTPLATE_REDUCERS, where the
reduction servers are. Without those it is plain PyTorch. Rank 0 saves to AIP_MODEL_DIR.
"""

import argparse
import json
import os
import pathlib

import torch
import torch.distributed.nn  # imported after the group is made, it would keep the group for ever
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

FEATURES = 32


def find_path(uri):
    """Where a gs:// address is a file: buckets are mounted at /gcs, on Vertex AI and here."""
    return uri.replace("gs://", "/gcs/", 1)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--wire", choices=["float32", "float16", "bfloat16"])
    parser.add_argument("--model-dir", type=find_path, default=os.environ.get("AIP_MODEL_DIR", "."))
    return parser.parse_args()


def make_model(hidden):
    layers = [nn.Linear(FEATURES, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()]
    return DistributedDataParallel(nn.Sequential(*layers, nn.Linear(hidden, 1)), bucket_cap_mb=64)


def train(model, args):
    """Each rank sees rows of its own; the target is half the sum of a row."""
    rows_of_this_rank = torch.Generator().manual_seed(distributed.get_rank())
    optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate, momentum=0.9)
    losses = []
    for step in range(args.steps):
        x = torch.randn(args.batch_size, FEATURES, generator=rows_of_this_rank)
        loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True) / 2)
        optimizer.zero_grad()
        loss.backward()  # averages the gradients over all ranks
        optimizer.step()
        losses.append(loss.item())
        if step % 10 == 9:
            print(f"step {step + 1}: loss {losses[-1]:.4f}", flush=True)
    return losses


def average_by_reducers(model, wire):
    """How many all-reduces they have made so far, as a function."""
    try:
        import footplate_reduction.torch as reduction
    except ImportError:  # nowhere but on Footplate, and where it was installed by hand
        return lambda: 0
    reduction.attach(model, wire)
    return reduction.offloaded


def run(args):
    model = make_model(args.hidden)
    offloaded = average_by_reducers(model, args.wire)
    losses = train(model, args)

    checksum = float(sum(p.detach().double().sum() for p in model.parameters()))
    checksums = [None] * distributed.get_world_size()
    distributed.all_gather_object(checksums, checksum)
    if distributed.get_rank() == 0:
        print(f"all-reduces by reduction servers: {offloaded()}", flush=True)
        folder = pathlib.Path(args.model_dir)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(model.module.state_dict(), folder / "model.pt")
        report = {"losses": losses, "checksums": checksums, "offloaded": offloaded()}
        (folder / "report.json").write_text(json.dumps(report))


def main():
    args = parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    distributed.init_process_group("gloo")
    try:
        run(args)  # the model is freed before its group: later, it may wait for gloo for ever
    finally:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
