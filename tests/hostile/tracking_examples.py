"""Honest requests to MetadataService and TensorboardService."""

from __future__ import annotations

from typing import Any

_P = "projects/{project}/locations/{location}"
_STORE = f"{_P}/metadataStores/{{metadataStores}}"
_BOARD = f"{_P}/tensorboards/{{tensorboards}}"
_EXPERIMENT = f"{_BOARD}/experiments/{{experiments}}"
_RUN = f"{_EXPERIMENT}/runs/{{runs}}"
_HERE = "projects/demo/locations/us-central1"
_NODES = f"{_HERE}/metadataStores/default"
_CONTEXT = f"{_NODES}/contexts/c"
_NODE: dict[str, Any] = {
    "displayName": "n",
    "schemaTitle": "system.X",
    "metadata": {"a": 1.5, "b": [None, {"c": "d"}]},
    "labels": {"a": "b"},
}
_SERIES: dict[str, Any] = {"displayName": "s", "valueType": "SCALAR", "pluginName": "scalars"}
_POINT = {"step": "1", "wallTime": "2026-01-31T12:00:00Z", "scalar": {"value": 0.5}}
_DATA = {"tensorboardTimeSeriesId": "s", "valueType": "SCALAR", "values": [_POINT]}
_EVENT = {"artifact": f"{_NODES}/artifacts/a", "type": "INPUT", "labels": {"a": "b"}}

NAMES = {
    "metadataStores": "default",
    "contexts": "c",
    "artifacts": "a",
    "executions": "e",
    "experiments": "e",
    "runs": "r",
    "timeSeries": "s",
}
"""Of what there is, beside a TensorBoard, whose id the service gives."""
BODIES: dict[tuple[str, str], list[object]] = {
    ("POST", f"{_STORE}/contexts"): [_NODE],
    ("POST", f"{_STORE}/artifacts"): [{**_NODE, "uri": "gs://b/x", "state": "LIVE"}],
    ("POST", f"{_STORE}/executions"): [{**_NODE, "state": "RUNNING"}],
    ("PATCH", f"{_STORE}/contexts/{{contexts}}"): [_NODE],
    ("PATCH", f"{_STORE}/executions/{{executions}}"): [{"state": 3}],
    ("POST", f"{_STORE}/contexts/{{contexts}}:addContextChildren"): [
        {"childContexts": [f"{_NODES}/contexts/d"]}
    ],
    ("POST", f"{_STORE}/contexts/{{contexts}}:addContextArtifactsAndExecutions"): [
        {"artifacts": [f"{_NODES}/artifacts/a"], "executions": [f"{_NODES}/executions/e"]}
    ],
    ("POST", f"{_STORE}/executions/{{executions}}:addExecutionEvents"): [{"events": [_EVENT]}],
    ("POST", f"{_P}/tensorboards"): [{"displayName": "b"}, {"displayName": "b", "isDefault": True}],
    ("PATCH", _BOARD): [{"description": "d"}],
    ("POST", f"{_BOARD}/experiments"): [{"displayName": "e"}],
    ("POST", f"{_EXPERIMENT}/runs"): [{"displayName": "r"}],
    ("POST", f"{_RUN}/timeSeries"): [_SERIES],
    ("POST", f"{_EXPERIMENT}/runs:batchCreate"): [
        {"requests": [{"tensorboardRun": {"displayName": "x"}, "tensorboardRunId": "x"}]}
    ],
    ("POST", f"{_EXPERIMENT}:batchCreate"): [
        {
            "requests": [
                {
                    "parent": f"{_HERE}/tensorboards/{{tensorboards}}/experiments/e/runs/r",
                    "tensorboardTimeSeries": {**_SERIES, "displayName": "t"},
                }
            ]
        }
    ],
    ("POST", f"{_RUN}:write"): [{"timeSeriesData": [_DATA]}],
    ("POST", f"{_RUN}/timeSeries/{{timeSeries}}:exportTensorboardTimeSeries"): [{"pageSize": 2}],
}
"""As ``examples.BODIES``."""
QUERIES = {
    f"{_STORE}/contexts": f'filter=schema_title=system.X AND parent_contexts:"{_CONTEXT}"',
    f"{_STORE}/artifacts": f'filter=in_context("{_CONTEXT}") OR metadata.a.number_value>1',
    f"{_RUN}/timeSeries/{{timeSeries}}:read": "maxDataPoints=10",
    f"{_BOARD}:batchRead": f"timeSeries={_RUN}/timeSeries/{{timeSeries}}",
}
