"""The page on methods and clients: it reads back as it was written, and claims are checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import make_clients_reference as tool

ROUTE = "/v1/projects/{project}/locations/{location}/customJobs/{custom_job}"


def labels(verb: str, route: str, status: int, **changes: str) -> dict[str, str]:
    client = {"client": "gcloud", "version": "528.0.0", "transport": "REST"}
    return {"verb": verb, "route": route, "status": str(status), **client, **changes}


def keep(folder: Path, *requests: dict[str, str]) -> None:
    (folder / f"{len(list(folder.iterdir()))}.json").write_text(json.dumps(requests))


def test_the_page_reads_back_as_it_is() -> None:
    text = tool.PAGE.read_text("utf-8")
    assert tool.write_page(tool.read_page(text)) == text


def test_methods_and_clients_have_their_names(tmp_path: Path) -> None:
    sdk = {"client": "Vertex AI SDK", "version": "1.71.1", "transport": "gRPC"}
    keep(tmp_path, labels("GET", ROUTE, 404), labels("POST", f"{ROUTE}:cancel", 400))
    keep(tmp_path, labels("GET", ROUTE, 200), labels("PUT", "/x", 200))
    keep(tmp_path, labels("GET", ROUTE.rpartition("/")[0], 200, **sdk))
    keep(tmp_path, labels("GET", ROUTE, 200, client="curl"))
    trial = ROUTE.replace("customJobs/{custom_job}", "studies/{study}/trials/{trial}")
    for client in ("google-api-python-client", "Google client library"):
        keep(tmp_path, labels("POST", f"{trial}:complete", 200, client=client))
    assert tool.read_records(tmp_path) == {
        ("Vertex AI training", "customJobs.get"): {"gcloud": "yes"},
        ("Vertex AI training", "customJobs.cancel"): {"gcloud": "refused"},
        ("Vertex AI training", "customJobs.list"): {"Vertex AI SDK 1.71, gRPC": "yes"},
        ("AI Platform Training", "studies.trials.complete"): {"google-api-python-client": "yes"},
        ("Vertex AI training", "studies.trials.complete"): {"Google client library": "yes"},
    }


@pytest.mark.parametrize(("status", "code"), [(200, 0), (404, 1)])
def test_a_claim_that_no_test_saw_fails(
    status: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, records = tmp_path / "page.md", tmp_path / "records"
    records.mkdir()
    page.write_text(tool.write_page({("Vertex AI training", "customJobs.get"): {"gcloud": "yes"}}))
    keep(records, labels("GET", ROUTE, status))
    monkeypatch.setattr(tool, "PAGE", page)
    monkeypatch.setattr(tool, "RECORDS", records)
    monkeypatch.setattr("sys.argv", ["tool", "--check"])
    assert tool.main() == code
