"""Programs of PyTorch."""

from __future__ import annotations

import io
import os

import fsspec
import torch
from google.cloud import storage
from torch.utils.tensorboard import SummaryWriter

ROOT = os.environ["IDIOMS_ROOT"]
STATE = {"weight": torch.arange(3.0)}


def case_torch_below_gcs() -> None:
    path = os.path.join(ROOT.replace("gs://", "/gcs/"), "torch_below_gcs", "model.pt")
    os.makedirs(os.path.dirname(path))
    torch.save(STATE, path)
    assert torch.load(path)["weight"].tolist() == [0.0, 1.0, 2.0]


def case_torch_by_the_client() -> None:
    torch.save(STATE, "model.pt")
    place = os.path.join(ROOT, "torch_by_the_client", "model.pt")
    blob = storage.blob.Blob.from_string(place, client=storage.Client())
    blob.upload_from_filename("model.pt")
    assert torch.load(io.BytesIO(blob.download_as_bytes()))["weight"].tolist() == [0.0, 1.0, 2.0]


def case_torch_by_fsspec() -> None:
    with fsspec.open(f"{ROOT}/torch_by_fsspec/model.pt", "wb") as file:
        torch.save(STATE, file)
    with fsspec.open(f"{ROOT}/torch_by_fsspec/model.pt", "rb") as file:
        assert torch.load(file)["weight"].tolist() == [0.0, 1.0, 2.0]


def case_torch_summaries() -> None:
    with SummaryWriter(f"{ROOT}/torch_summaries") as writer:
        writer.add_scalar("loss", 0.5, 1)
