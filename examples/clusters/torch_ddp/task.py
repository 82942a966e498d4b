"""Fit a plane by data-parallel PyTorch: each rank sees its own share of the data.

MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE say who is in it. Rank 0 saves to AIP_MODEL_DIR.
"""

import argparse
import json
import os
import pathlib

import torch
import torch.distributed.nn  # imported after the group is made, it would keep the group for ever
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

FEATURES = 8


def find_path(uri):
    """Where a gs:// address is a file: buckets are mounted at /gcs, on Vertex AI and here."""
    return uri.replace("gs://", "/gcs/", 1)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=20)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--model-dir", type=find_path, default=os.environ.get("AIP_MODEL_DIR", "."))
    return parser.parse_args()


def make_data(size=600):
    """The same for all ranks: what a row's target is, and nothing random but the rows."""
    rows = torch.randn(size, FEATURES, generator=torch.Generator().manual_seed(0))
    return TensorDataset(rows, rows @ torch.arange(1.0, FEATURES + 1).unsqueeze(1))


def train(model, loader, args):
    """The mean loss of each epoch over all ranks, and how many rows this rank saw in an epoch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate)
    losses = []
    for epoch in range(args.epochs):
        loader.sampler.set_epoch(epoch)
        total, rows = torch.zeros(1), 0
        for x, y in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()  # averages the gradients over all ranks
            optimizer.step()
            total += loss.detach() * len(x)
            rows += len(x)
        distributed.all_reduce(total)
        losses.append(total.item() / len(loader.dataset))
        print(f"epoch {epoch}: loss {losses[-1]:.4f}", flush=True)
    return losses, rows


def gather(value):
    values = [None] * distributed.get_world_size()
    distributed.all_gather_object(values, value)
    return values


def run(args):
    rank = distributed.get_rank()
    print(f"rank {rank} of {distributed.get_world_size()}", flush=True)

    torch.manual_seed(rank)  # DDP gives all ranks the weights of rank 0
    model = DistributedDataParallel(torch.nn.Linear(FEATURES, 1))
    data = make_data()
    loader = DataLoader(data, args.batch_size, sampler=DistributedSampler(data))
    losses, rows = train(model, loader, args)

    weights = gather([p.tolist() for p in model.module.parameters()])
    report = {"losses": losses, "rows": gather(rows), "ranks": gather(rank), "weights": weights}
    if rank == 0:
        folder = pathlib.Path(args.model_dir)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(model.module.state_dict(), folder / "model.pt")
        (folder / "report.json").write_text(json.dumps(report))
    distributed.barrier()


def main():
    args = parse_args()
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    try:
        run(args)  # the model is freed before its group: later, it may wait for gloo for ever
    finally:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
