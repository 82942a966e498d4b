"""The messages that are made from schema.json: those of Google's own packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from google.cloud import aiplatform_v1, aiplatform_v1beta1
from google.longrunning import operations_pb2

from footplate.grpc_api.schema import Schema, load_schema

ROOT = Path(__file__).parents[3]
VERSIONS = {"v1": aiplatform_v1, "v1beta1": aiplatform_v1beta1}


@pytest.fixture(scope="module")
def schema() -> Schema:
    return load_schema()


def test_the_file_is_what_the_tool_makes_of_the_installed_packages() -> None:
    command = [sys.executable, "-W", "ignore", "tools/make_grpc_schema.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_messages_read_each_others_bytes(schema: Schema, version: str) -> None:
    google = VERSIONS[version].CreateTrainingPipelineRequest
    text = google(
        parent="p",
        training_pipeline={
            "display_name": "d",
            "labels": {"a": "b"},
            "training_task_inputs": {"x": [1.5, None, {"y": "z"}]},
            "input_data_config": {
                "gcs_destination": {"output_uri_prefix": "gs://b"},
                "fraction_split": {"training_fraction": 0.5},
            },
            "state": "PIPELINE_STATE_RUNNING",
            "error": {"code": 3, "message": "m"},
        },
    )
    content = google.serialize(text)
    name = f"/google.cloud.aiplatform.{version}.PipelineService/CreateTrainingPipeline"
    ours = schema.methods[name].request

    message = ours.FromString(content)

    assert message.training_pipeline.labels["a"] == "b"
    assert message.training_pipeline.input_data_config.WhichOneof("split") == "fraction_split"
    assert google.deserialize(message.SerializeToString()) == text


def test_a_field_that_is_optional_knows_whether_it_was_set(schema: Schema) -> None:
    kind = schema.message("google.cloud.aiplatform.v1.StudySpec.ParameterSpec.DoubleValueSpec")
    message = kind(default_value=0.0)
    assert message.HasField("default_value")
    assert kind.FromString(message.SerializeToString()).HasField("default_value")


def test_every_method_has_its_messages_and_a_rule(schema: Schema) -> None:
    operation = operations_pb2.Operation.DESCRIPTOR.full_name
    for name, method in schema.methods.items():
        assert method.name == name
        assert method.verb in {"DELETE", "GET", "PATCH", "POST"}
        assert method.template.startswith(("/v1/{", "/v1beta1/{", "/v2/", "/v3/{", "/ui/{"))
    assert len(schema.methods) > 80
    deleted = schema.methods["/google.cloud.aiplatform.v1.ModelService/DeleteModel"]
    assert deleted.answer.DESCRIPTOR.full_name == operation
