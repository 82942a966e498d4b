"""What is said of Google's hosts that aren't here."""

from __future__ import annotations

import pytest

from footplate.domain.google_products import explain_host, explain_package, is_served


@pytest.mark.parametrize(
    ("host", "path", "said"),
    [
        ("bigquery.googleapis.com", "", "Footplate has no BigQuery (bigquery.googleapis.com). "),
        ("bigquerystorage.googleapis.com", "", "no BigQuery (bigquerystorage.googleapis.com)"),
        ("us-central1-pubsub.googleapis.com", "", "Pub/Sub (us-central1-pubsub.googleapis.com)"),
        ("SecretManager.googleapis.com", "", "Give the job the secret as a variable"),
        ("europe-python.pkg.dev", "", "Artifact Registry"),
        ("eu.gcr.io", "", "Artifact Registry"),
        ("www.googleapis.com", "/drive/v3/files", "Google Drive"),
        ("new.googleapis.com", "", "Footplate has no new.googleapis.com. Copy the data"),
        ("googleapis.com", "", "Footplate has no googleapis.com"),
        (
            "storage.googleapis.com",
            "",
            "(storage.googleapis.com) from here. Its clients use STORAGE_EMUL",
        ),
        ("us-central1-aiplatform.googleapis.com", "", "from here. Google's Python clients"),
    ],
)
def test_a_host_of_googles(host: str, path: str, said: str) -> None:
    assert said in (explain_host(host, path) or "")


@pytest.mark.parametrize("host", ["example.com", "xgoogleapis.com", "bigquery", "127.0.0.1", ""])
def test_another_host(host: str) -> None:
    assert explain_host(host) is None


def test_a_service_of_grpc() -> None:
    assert "Pub/Sub" in (explain_package("google.pubsub.v1") or "")
    assert "Artifact" in (explain_package("google.devtools.artifactregistry.v1") or "")
    assert explain_package("google.cloud.aiplatform.v1") is None


def test_what_is_served_here() -> None:
    assert is_served("us-central1-aiplatform.googleapis.com")
    assert is_served("storage.googleapis.com")
    assert not is_served("bigquery.googleapis.com")
    assert not is_served("aiplatform.example.com")
    assert not is_served("storage.pkg.dev")
