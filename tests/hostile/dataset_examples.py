"""Honest requests to DatasetService."""

from __future__ import annotations

from typing import Any

from footplate.domain.datasets import SCHEMAS, schema_uri

_ALL = "projects/{project}/locations/{location}/datasets"
_ONE = f"{_ALL}/{{datasets}}"
_FORMAT = f"{SCHEMAS}/ioformat/text_classification_single_label_io_format_1.0.0.yaml"
_OUT = {"outputUriPrefix": "gs://stage/exports"}
TEXTS: dict[str, Any] = {"displayName": "t", "metadataSchemaUri": schema_uri("text")}
_TABLE: dict[str, Any] = {
    "displayName": "t",
    "metadataSchemaUri": schema_uri("tabular"),
    "metadata": {"inputConfig": {"gcsSource": {"uri": ["gs://stage/**/a*.csv"]}}},
}
BODIES: dict[tuple[str, str], list[object]] = {
    ("POST", _ALL): [{**TEXTS, "labels": {"a": "b"}}, _TABLE],
    ("PATCH", _ONE): [{"displayName": "u"}],
    ("POST", f"{_ONE}:import"): [
        {
            "importConfigs": [
                {
                    "gcsSource": {"uris": ["gs://stage/a", "gs://stage/*?**"]},
                    "importSchemaUri": _FORMAT,
                    "dataItemLabels": {"a": "b"},
                }
            ]
        }
    ],
    ("POST", f"{_ONE}:export"): [
        {"exportConfig": {"gcsDestination": _OUT, "fractionSplit": {"trainingFraction": 0.5}}},
        {
            "exportConfig": {
                "gcsDestination": _OUT,
                "filterSplit": {"trainingFilter": "-", "validationFilter": "-", "testFilter": "-"},
                "exportUse": "CUSTOM_CODE_TRAINING",
            }
        },
    ],
}
