"""Runs each part of calls.js over both transports of the library."""

import os

from example_results import run_example
from google.cloud import storage

PARTS = (
    "customJob", "hyperparameterTuningJob", "trainingPipeline", "model", "study", "tensorboard",
    "endpoint",
)  # fmt: skip

storage.Client(os.environ["PROJECT"]).create_bucket("node")
for transport in ("grpc", "rest"):
    for part in PARTS:
        run_example("%s over %s" % (part, transport), ["node", "calls.js", part, transport], 300)
