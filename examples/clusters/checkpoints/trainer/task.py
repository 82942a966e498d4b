"""Learn to read digits on a chief and workers; go on from the last checkpoint after a crash.

The chief listens at its address of TF_CONFIG. In each step it sends the weights to every worker,
and gets the gradient of the worker's share of the data.
"""

import argparse
import contextlib
import json
import os
import time
import uuid
from multiprocessing.connection import Client, Listener

import numpy as np
from sklearn.datasets import load_digits

STEPS_PER_EPOCH = 25
TIMEOUT_S = 60


def find_path(uri):
    """Where a gs:// address is a file: buckets are mounted at /gcs, on Vertex AI and here."""
    return uri.replace("gs://", "/gcs/", 1)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", type=find_path, required=True)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seconds-per-step", type=float, default=0.0, help="of pretended work")
    return parser.parse_args()


def load_share(index, count):
    images, labels = load_digits(return_X_y=True)
    return images[index::count] / 16.0, np.eye(10)[labels[index::count]]


def measure(weights, images, labels):
    """The mean loss on this share, and its gradient."""
    scores = np.exp(images @ weights)
    scores /= scores.sum(axis=1, keepdims=True)
    loss = -np.log((scores * labels).sum(axis=1)).mean()
    return loss, images.T @ (scores - labels) / len(images)


class Checkpoint:
    """The weights, and for each epoch its loss, the shares in it, and the run that made it."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "checkpoint.npz")
        self.weights, self.history = np.zeros((64, 10)), []
        with contextlib.suppress(FileNotFoundError), np.load(self.path) as file:
            self.weights, self.history = file["weights"], json.loads(str(file["history"]))

    def save(self):
        """All or nothing: a crash leaves the one before."""
        part = self.path + ".part.npz"
        np.savez(part, weights=self.weights, history=json.dumps(self.history))
        os.replace(part, self.path)


def lead(address, shares, args):
    """The chief: its own share is the first."""
    checkpoint, run = Checkpoint(args.job_dir), uuid.uuid4().hex
    mine = load_share(0, shares)
    with Listener(address) as listener:
        workers = [listener.accept() for _ in range(shares - 1)]
    for epoch in range(len(checkpoint.history), args.epochs):
        for _ in range(STEPS_PER_EPOCH):
            for worker in workers:
                worker.send(checkpoint.weights)
            results = [measure(checkpoint.weights, *mine), *(w.recv() for w in workers)]
            checkpoint.weights -= np.mean([gradient for _, gradient in results], axis=0)
            time.sleep(args.seconds_per_step)
        loss = float(np.mean([loss for loss, _ in results]))
        entry = {"epoch": epoch, "loss": loss, "shares": len(results), "run": run}
        checkpoint.history.append(entry)
        checkpoint.save()
        print(f"epoch {epoch}: loss {loss:.4f}", flush=True)
    for worker in workers:
        worker.send(None)
    with open(os.path.join(args.job_dir, "report.json"), "w") as file:
        json.dump({"epochs": checkpoint.history}, file)


def follow(address, index, shares):
    """A worker, until the chief says that it is over."""
    share = load_share(index, shares)
    with connect(address) as chief:
        while (weights := chief.recv()) is not None:
            chief.send(measure(weights, *share))


def connect(address):
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return Client(address)
        except ConnectionRefusedError:  # the chief isn't that far
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def main():
    args = parse_args()
    config = json.loads(os.environ["TF_CONFIG"])
    cluster, task = config["cluster"], config["task"]
    host, port = cluster["chief"][0].rsplit(":", 1)
    shares = 1 + len(cluster["worker"])
    if task["type"] == "chief":
        lead((host, int(port)), shares, args)
    else:
        follow((host, int(port)), task["index"] + 1, shares)


if __name__ == "__main__":
    main()
