"""What Terraform's provider for Google asks for its resources of Vertex AI, from its sources.

It creates a resource, asks for the operation at v1 until it is done, takes the name from the
response, and reads what it made; it changes by PATCH with ``updateMask``, and deletes likewise.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from footplate.domain.datasets import schema_uri
from tests.api.faces.test_tracking import P, http

__all__ = ["http"]

KEY = "projects/demo/locations/us-central1/keyRings/r/cryptoKeys/k"
RESOURCES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "google_vertex_ai_dataset": (
        "v1",
        "datasets",
        {
            "displayName": "terraform",
            "metadataSchemaUri": schema_uri("image"),
            "encryptionSpec": {"kmsKeyName": KEY},
        },
        {"displayName": "changed"},
    ),
    "google_vertex_ai_tensorboard": (
        "v1",
        "tensorboards",
        {
            "displayName": "terraform",
            "description": "d",
            "encryptionSpec": {"kmsKeyName": KEY},
            "labels": {"a": "b"},
        },
        {"displayName": "changed", "description": "other", "labels": {"c": "d"}},
    ),
    "google_vertex_ai_metadata_store": (
        "v1beta1",
        "metadataStores?metadataStoreId=test-store",
        {"description": "d", "encryptionSpec": {"kmsKeyName": KEY}},
        {},
    ),
}
"""By the name of a resource: the version of the API, the path of ``create``, its body, and what is
changed."""
AGENT = {"user-agent": "Terraform/1.14.0 (+https://www.terraform.io) google-provider/8.0.0"}


def end_operation(http: httpx.Client, operation: dict[str, Any]) -> dict[str, Any]:
    """Asks for an operation as the provider does; returns its response."""
    found: dict[str, Any] = http.get(f"/v1/{operation['name']}", params={"alt": "json"}).json()
    assert found["done"] is True, found
    assert "error" not in found
    assert found["response"] == operation["response"]
    response: dict[str, Any] = found["response"]
    return response


@pytest.mark.parametrize("resource", RESOURCES)
def test_a_resource_is_made_read_changed_and_deleted(http: httpx.Client, resource: str) -> None:
    http.headers.update(AGENT)
    version, path, body, changes = RESOURCES[resource]
    made = http.post(f"/{version}/{P}/{path}", json=body)
    assert made.status_code == 200, made.text
    name = end_operation(http, made.json())["name"]
    url = f"/{version}/{name}"
    found = http.get(url).json()
    assert {field: found[field] for field in body} == body
    assert {"name", "createTime", "updateTime"} <= found.keys()
    if changes:
        mask = ",".join(changes)
        changed = http.patch(url, params={"updateMask": mask, "alt": "json"}, json=changes)
        assert changed.status_code == 200, changed.text
        if changed.json()["name"] != name:
            end_operation(http, changed.json())
        found = http.get(url).json()
        assert {field: found[field] for field in changes} == changes
    deleted = http.delete(url, params={"alt": "json"})
    assert deleted.status_code == 200, deleted.text
    end_operation(http, deleted.json())
    assert http.get(url).status_code == 404


def test_a_resource_that_is_gone_is_not_found(http: httpx.Client) -> None:
    """So the provider drops it from its state, and makes it anew."""
    for path in ("datasets/1", "tensorboards/1", "metadataStores/test-store"):
        assert http.get(f"/v1/{P}/{path}").status_code == 404
        assert http.delete(f"/v1/{P}/{path}").status_code == 404
