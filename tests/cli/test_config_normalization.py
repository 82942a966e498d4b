"""Config files as gcloud takes them."""

from __future__ import annotations

import pytest

from footplate.cli.config_file import as_message
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.models import CustomJobSpec, HyperparameterTuningJob

POOL: JsonObject = {"replicaCount": 1, "containerSpec": {"imageUri": "i"}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"workerPoolSpecs": POOL}, {"workerPoolSpecs": [POOL]}),
        ({"workerPoolSpecs": [POOL, None, {}]}, {"workerPoolSpecs": [POOL, None, {}]}),
        ({"workerPoolSpecs": None}, {"workerPoolSpecs": None}),
        (
            {
                "worker_pool_specs": {
                    "container_spec": {"image_uri": "i", "env": {"name": "A"}, "args": "--x"}
                },
                "reserved_ip_ranges": "r",
            },
            {
                "workerPoolSpecs": [
                    {"containerSpec": {"imageUri": "i", "env": [{"name": "A"}], "args": ["--x"]}}
                ],
                "reservedIpRanges": ["r"],
            },
        ),
        (
            {"unknown_field": {"worker_pool_specs": 1}, "network": ["n"], "scheduling": 5},
            {"unknown_field": {"worker_pool_specs": 1}, "network": ["n"], "scheduling": 5},
        ),
        (
            {"worker_pool_specs": [], "workerPoolSpecs": []},
            {"worker_pool_specs": [], "workerPoolSpecs": []},
        ),
    ],
)
def test_names_and_lists(content: JsonObject, message: JsonObject) -> None:
    assert as_message(CustomJobSpec, content) == message


def test_messages_within_each_other() -> None:
    content: JsonObject = {"study_spec": {"parameters": {"conditionalParameterSpecs": {}}}}
    assert as_message(HyperparameterTuningJob, content) == {
        "studySpec": {"parameters": [{"conditionalParameterSpecs": [{}]}]}
    }
