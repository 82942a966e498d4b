"""A script of the Vertex SDK on its default transport, under ``footplate run``: any version.

Run in a process of its own, by tests/support/own_process.py.
"""

from __future__ import annotations

import time
from typing import Any

from google.cloud import aiplatform, storage

REGION = "us-central1"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
LIMIT_S = 120


def _init() -> None:
    storage.Client().bucket("sdk")
    aiplatform.init(project="demo", location=REGION, staging_bucket="gs://sdk")
    with open("task.py", "w") as file:
        file.write("print('hello')\n")


def _end(job: Any) -> None:
    job.cancel()
    deadline = time.monotonic() + LIMIT_S
    while job.state.name not in ("JOB_STATE_CANCELLED", "JOB_STATE_FAILED", "JOB_STATE_SUCCEEDED"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    job.delete()


def case_the_transport_is_grpc() -> None:
    _init()
    assert "Grpc" in type(aiplatform.CustomJob._empty_constructor().api_client._transport).__name__


def case_a_custom_job() -> None:
    _init()
    job = aiplatform.CustomJob.from_local_script("over grpc", "task.py", IMAGE)
    job.submit() if hasattr(job, "submit") else job.run(sync=False)
    assert job.resource_name in [each.resource_name for each in aiplatform.CustomJob.list()]
    _end(job)
    assert job.resource_name not in [each.resource_name for each in aiplatform.CustomJob.list()]


def case_a_model() -> None:
    _init()
    model = aiplatform.Model.upload(
        display_name="m",
        artifact_uri="gs://sdk/model",
        serving_container_image_uri="example.invalid/serve:1",
    )
    assert model.resource_name in [each.resource_name for each in aiplatform.Model.list()]
    model.delete()


def case_datasets() -> None:
    _init()
    bucket = storage.Client().bucket("sdk")
    bucket.blob("table.csv").upload_from_string("a,b\n1,2\n")
    bucket.blob("texts.jsonl").upload_from_string("{}\n")
    table = aiplatform.TabularDataset.create("table", gcs_source="gs://sdk/table.csv")
    assert sorted(table.column_names) == ["a", "b"]
    table.update(display_name="other", description="changed")
    found = aiplatform.TabularDataset.list(filter='display_name="other"')
    assert [each.resource_name for each in found] == [table.resource_name]
    formats = aiplatform.schema.dataset.ioformat.text
    texts = aiplatform.TextDataset.create(
        "texts",
        gcs_source=["gs://sdk/*.jsonl"],
        import_schema_uri=formats.single_label_classification,
    )
    for dataset in (table, texts):
        dataset.delete()
    assert aiplatform.TabularDataset.list() == aiplatform.TextDataset.list() == []


def case_a_training_pipeline() -> None:
    _init()
    job = aiplatform.CustomTrainingJob("pipeline", "task.py", IMAGE)
    job.submit() if hasattr(job, "submit") else job.run(sync=False)
    deadline = time.monotonic() + LIMIT_S
    while not aiplatform.CustomTrainingJob.list():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    job.cancel()
