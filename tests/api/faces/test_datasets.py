"""Managed datasets over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.security import Access
from footplate.api.vertex_v1 import dataset_routes
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.dataset_exports import DatasetExports, Exported
from footplate.control.datasets import Datasets
from footplate.domain.datasets import Dataset, DatasetOperation, schema_uri
from footplate.domain.errors import NotFound
from footplate.store import open_store
from tests.api.faces.conftest import Switch
from tests.support.clock import FakeClock
from tests.support.jobs import CREATED
from tests.support.vizier import CountingIds

P = "projects/demo/locations/us-central1"
TYPES = "type.googleapis.com/google.cloud.aiplatform.v1."
TABLE: dict[str, Any] = {
    "displayName": "irises",
    "metadataSchemaUri": schema_uri("tabular"),
    "metadata": {"inputConfig": {"gcsSource": {"uri": ["gs://data/a.csv", "gs://data/b*.csv"]}}},
}
TEXTS: dict[str, Any] = {"displayName": "texts", "metadataSchemaUri": schema_uri("text")}
LINES = (
    "gs://google-cloud-aiplatform/schema/dataset/ioformat/"
    "text_classification_single_label_io_format_1.0.0.yaml"
)
SCHEMA_LABEL = "aiplatform.googleapis.com/dataset_metadata_schema"


class Service:
    """The routes of datasets, and the exports, which a test carries out itself."""

    def __init__(self, http: httpx.Client, exports: DatasetExports, buckets: FolderBuckets) -> None:
        self.http = http
        self.exports = exports
        self.buckets = buckets

    def call(self, verb: str, path: str, **body: object) -> dict[str, Any]:
        answer = self.http.request(verb, f"/v1/{path}", json=body or None)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def create(self, **body: object) -> str:
        name: str = self.call("POST", f"{P}/datasets", **body)["response"]["name"]
        return name

    def names(self, query: str) -> list[str]:
        listed = self.call("GET", f"{P}/datasets?{query}").get("datasets", [])
        return [each["displayName"] for each in listed]

    def fault(self, verb: str, path: str, **body: object) -> tuple[str, str]:
        error = self.http.request(verb, f"/v1/{path}", json=body or None).json()["error"]
        return error["status"], error["message"]


def write_nothing(dataset: Dataset, operation: DatasetOperation, closed: object) -> Exported:
    if "gs://lost/a.jsonl" in dataset.sources:
        raise NotFound("gs://lost/a.jsonl is gone")
    return Exported((f"{operation.directory}training-*",), (8, 1, 1))


@pytest.fixture
def service(switch: Switch, tmp_path: Path) -> Iterator[Service]:
    clock, catalogue = FakeClock(CREATED), load_catalogue()
    buckets = FolderBuckets(tmp_path / "buckets", clock)
    for name in ("data", "lost", "out"):
        buckets.create_bucket(name)
    buckets.write("data", "a.jsonl", [b"{}\n"])
    with closing(open_store(f"sqlite:///{tmp_path}/footplate.db")) as store:
        datasets = Datasets(store.tracking, buckets, clock)
        routes = dataset_routes(store.tracking, datasets, clock, CountingIds(), catalogue)
        switch.app = create_app(routes, Access(), new_id=lambda: "c0ffee")
        exports = DatasetExports(store.tracking, write_nothing, clock)
        with httpx.Client(base_url=switch.url) as http:
            yield Service(http, exports, buckets)


def test_a_text_as_metadata_counts_only_for_tables(service: Service) -> None:
    name = service.create(**TEXTS, metadata="texts")
    assert "metadata" not in service.call("GET", name)
    status, said = service.fault("POST", f"{P}/datasets", **TABLE | {"metadata": "table"})
    assert (status, said) == ("INVALID_ARGUMENT", 'metadata: "table" given; allowed: an object')


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_create_get_list_patch_delete(service: Service, version: str) -> None:
    http, url = service.http, f"/{version}/{P}/datasets"
    operation = http.post(url, json={**TABLE, "labels": {"team": "a"}}).json()
    kind = TYPES.replace("v1", version)
    assert operation["metadata"]["@type"] == f"{kind}CreateDatasetOperationMetadata"
    made = {**operation["response"]}
    assert made.pop("@type") == f"{kind}Dataset"
    assert {key: made[key] for key in TABLE} == TABLE
    assert made["labels"] == {"team": "a", SCHEMA_LABEL: "TABULAR"}
    one = f"/{version}/{made['name']}"
    assert http.get(one).json() == made
    assert http.get(url).json() == {"datasets": [made]}
    for prefix in ("ui", "v1", "v1beta1"):
        assert http.get(f"/{prefix}/{operation['name']}").json() == operation
    change = {**made, "displayName": "roses", "labels": {**made["labels"], "team": "b"}}
    patched = http.patch(one, params={"updateMask": "display_name,labels"}, json=change).json()
    assert (patched["displayName"], patched["labels"]["team"]) == ("roses", "b")
    assert patched["metadata"] == TABLE["metadata"]
    assert http.patch(one, json={"etag": made["etag"]}).json()["error"]["status"] == "ABORTED"
    deletion = http.delete(one).json()
    assert deletion["metadata"]["@type"] == f"{kind}DeleteOperationMetadata"
    assert http.get(one).status_code == 404
    assert http.get(f"/{version}/{deletion['name']}").json() == deletion
    assert http.get(f"/{version}/{operation['name']}").status_code == 404


def test_metadata_may_be_in_snake_case_and_is_answered_in_camel_case(service: Service) -> None:
    snake = {"input_config": {"gcs_source": {"uri": ["gs://data/a.csv"]}}}
    name = service.create(
        display_name="x", metadata_schema_uri=schema_uri("tabular"), metadata=snake
    )
    found = service.call("GET", name)["metadata"]
    assert found == {"inputConfig": {"gcsSource": {"uri": ["gs://data/a.csv"]}}}


def test_lists_are_filtered_sorted_paged_and_masked(service: Service) -> None:
    for name, labels in (("b", {"team": "x"}), ("C", {}), ("a", {"team": "y"})):
        service.create(**{**TEXTS, "displayName": name, "labels": labels})
    service.create(**TABLE)
    assert service.names("orderBy=display_name") == ["a", "b", "C", "irises"]
    assert service.names("orderBy=displayName desc&pageSize=3") == ["irises", "C", "b"]
    first = service.call("GET", f"{P}/datasets?orderBy=display_name&pageSize=3")
    rest = f"orderBy=display_name&pageSize=3&pageToken={first['nextPageToken']}"
    assert service.names(rest) == ["irises"]
    assert sorted(service.names("filter=labels.team:*")) == ["a", "b"]
    assert sorted(service.names("filter=labels:team")) == ["a", "b"]
    assert service.names("filter=labels.team=y") == ["a"]
    assert service.names('filter=displayName="C"') == ["C"]
    assert service.names(f'filter=metadata_schema_uri="{schema_uri("tabular")}"') == ["irises"]
    masked = service.call("GET", f"{P}/datasets?filter=labels.team=y&readMask=display_name")
    assert masked == {"datasets": [{"displayName": "a"}]}
    name = service.create(**TEXTS)
    assert service.call("GET", f"{name}?readMask=displayName") == {"displayName": "texts"}
    assert service.fault("GET", f"{P}/datasets?orderBy=etag")[0] == "INVALID_ARGUMENT"


def test_an_import_adds_files_once_and_is_kept(service: Service) -> None:
    name = service.create(**TEXTS)
    config = {"gcsSource": {"uris": ["gs://data/*.jsonl"]}, "importSchemaUri": LINES}
    for labels in ({"a": "1"}, {"b": "2"}):
        asked = {**config, "dataItemLabels": labels}
        done = service.call("POST", f"{name}:import", importConfigs=[asked])
    assert done["done"] is True
    assert done["metadata"]["@type"] == f"{TYPES}ImportDataOperationMetadata"
    assert done["response"] == {"@type": f"{TYPES}ImportDataResponse"}
    assert done["name"] == f"{name}/operations/import-2"
    assert service.call("GET", done["name"]) == done
    assert set(service.call("GET", name)) == {
        *("name", "displayName", "metadataSchemaUri", "labels", "createTime", "updateTime", "etag")
    }


def test_an_import_of_a_missing_file_is_an_operation_that_failed(service: Service) -> None:
    name = service.create(**TEXTS)
    config = {"gcsSource": {"uris": ["gs://data/none-*.jsonl"]}, "importSchemaUri": LINES}
    failed = service.call("POST", f"{name}:import", importConfigs=[config])
    assert failed["done"] is True
    assert failed["error"]["code"] == 5
    assert "no file matches gs://data/none-*.jsonl" in failed["error"]["message"]
    assert service.call("GET", failed["name"]) == failed
    to = {"gcsDestination": {"outputUriPrefix": "gs://out"}}
    status, said = service.fault("POST", f"{name}:export", exportConfig=to)
    assert (status, "has no files to export" in said) == ("FAILED_PRECONDITION", True)


def test_an_export_is_an_operation_that_ends_later(service: Service) -> None:
    name = service.create(**TABLE)
    updated = service.call("GET", name)["updateTime"]
    split = {"trainingFraction": 0.8, "validationFraction": 0.1, "testFraction": 0.1}
    config = {"gcsDestination": {"outputUriPrefix": "gs://out/x/"}, "fractionSplit": split}
    begun = service.call("POST", f"{name}:export", exportConfig=config)
    folder = begun["metadata"]["gcsOutputDirectory"]
    assert folder.startswith("gs://out/x/export-data-irises-2")
    assert (begun["done"], "response" in begun) == (False, False)
    service.exports.step()
    done = service.call("GET", f"{name}/operations/export-1")
    assert done["response"] == {
        "@type": f"{TYPES}ExportDataResponse",
        "exportedFiles": [f"{folder}training-*"],
        "dataStats": {
            "trainingDataItemsCount": "8",
            "validationDataItemsCount": "1",
            "testDataItemsCount": "1",
        },
    }
    assert done["metadata"]["@type"] == f"{TYPES}ExportDataOperationMetadata"
    assert service.call("GET", name)["updateTime"] == updated
    assert service.http.get(f"/v1/{name}/operations/import-1").status_code == 404


def test_an_export_that_fails_says_why(service: Service) -> None:
    name = service.create(**TEXTS)
    service.buckets.write("lost", "a.jsonl", [b"{}\n"])
    config = {"gcsSource": {"uris": ["gs://lost/a.jsonl"]}, "importSchemaUri": LINES}
    service.call("POST", f"{name}:import", importConfigs=[config])
    service.buckets.delete("lost", "a.jsonl")
    to = {"gcsDestination": {"outputUriPrefix": "gs://out"}}
    begun = service.call("POST", f"{name}:export", exportConfig=to)
    service.exports.step()
    assert service.call("GET", begun["name"])["error"] == {
        "code": 5,
        "message": "gs://lost/a.jsonl is gone",
    }


IMPORT = {"gcsSource": {"uris": ["gs://data/a.jsonl"]}, "importSchemaUri": LINES}
WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("", {}, "displayName", "required"),
    ("", {**TEXTS, "metadataSchemaUri": "gs://x/y.yaml"}, "metadataSchemaUri", "tabular_1.0.0"),
    (
        "",
        {**TABLE, "metadata": {"inputConfig": {"bigquerySource": {"uri": "bq://a.b.c"}}}},
        "metadata.inputConfig.bigquerySource",
        "export the table into a bucket as CSV",
    ),
    (
        "",
        {**TABLE, "metadata": {"inputConfig": {"gcsSource": {"uri": ["gs://data/"]}}}},
        "metadata.inputConfig.gcsSource.uri[0]",
        "gs://BUCKET/PATH of a file",
    ),
    (
        "",
        {**TEXTS, "metadata": TABLE["metadata"]},
        "metadata.inputConfig.gcsSource.uri",
        "datasets.import",
    ),
    ("", {**TEXTS, "savedQueries": [{"displayName": "q"}]}, "savedQueries", "not supported"),
    ("", {**TEXTS, "labels": {"A": "b"}}, "labels", "lowercase"),
    (":import", {}, "importConfigs", "required"),
    (":import", {"importConfigs": [{}]}, "importConfigs[0].gcsSource.uris", "required"),
    (
        ":import",
        {"importConfigs": [{**IMPORT, "importSchemaUri": LINES.replace("text_", "image_")}]},
        "importConfigs[0].importSchemaUri",
        "ioformat/text_",
    ),
    (":export", {}, "exportConfig.gcsDestination.outputUriPrefix", "required"),
    (
        ":export",
        {"exportConfig": {"annotationsFilter": "x"}},
        "exportConfig.annotationsFilter",
        "not supported",
    ),
    (
        ":export",
        {"exportConfig": {"fractionSplit": {"trainingFraction": 0.9, "testFraction": 0.2}}},
        "exportConfig.fractionSplit",
        "at most 1",
    ),
    (
        ":export",
        {"exportConfig": {"filterSplit": {"trainingFilter": "-"}, "fractionSplit": {}}},
        "exportConfig.filterSplit",
        "one of the two",
    ),
]


@pytest.mark.parametrize(("action", "body", "field", "said"), WRONG)
def test_wrong_fields_are_named(
    service: Service, action: str, body: dict[str, Any], field: str, said: str
) -> None:
    path = f"{service.create(**TEXTS)}{action}" if action else f"{P}/datasets"
    answer = service.http.post(f"/v1/{path}", json=body).json()["error"]
    found = {v["field"]: v["description"] for v in answer["details"][0]["fieldViolations"]}
    assert said in found[field]


def test_a_table_imports_nothing_and_a_missing_bucket_is_named(service: Service) -> None:
    name = service.create(**TABLE)
    status, said = service.fault("POST", f"{name}:import", importConfigs=[IMPORT])
    assert (status, "is tabular" in said) == ("FAILED_PRECONDITION", True)
    to = {"gcsDestination": {"outputUriPrefix": "gs://nowhere/x"}}
    status, said = service.fault("POST", f"{name}:export", exportConfig=to)
    assert (status, "there is no bucket 'nowhere'" in said) == ("INVALID_ARGUMENT", True)
    assert service.fault("POST", f"{P}/datasets/7:import", importConfigs=[IMPORT])[0] == "NOT_FOUND"
