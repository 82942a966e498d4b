"""Which hosts the proxy answers for."""

from __future__ import annotations

import pytest

from footplate.proxy.hosts import ServedHost, find_host, normalize


@pytest.mark.parametrize(
    "name",
    [
        "aiplatform.googleapis.com",
        "us-central1-aiplatform.googleapis.com",
        "aiplatform.us-central1.rep.googleapis.com",
        "ml.googleapis.com",
        "europe-west4-ml.googleapis.com",
        "cloudresourcemanager.googleapis.com",
        "iamcredentials.googleapis.com",
        "logging.googleapis.com",
        "oauth2.googleapis.com",
        "serviceusage.googleapis.com",
        "storage.googleapis.com",
        "www.googleapis.com",
        "accounts.google.com",
    ],
)
def test_served(name: str) -> None:
    assert find_host(name) == ServedHost(name)


def test_a_bucket_in_the_name() -> None:
    assert find_host("a.b_c.storage.googleapis.com") == ServedHost(
        "a.b_c.storage.googleapis.com", "a.b_c"
    )


@pytest.mark.parametrize(
    "name",
    [
        "evil-aiplatform.googleapis.com.example.com",
        "aiplatformxgoogleapis.com",
        "storage.googleapis.com\n",
        "google.com",
        "127.0.0.1",
        "localhost",
        "",
    ],
)
def test_not_served(name: str) -> None:
    assert find_host(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "bigquery.googleapis.com",
        "googleapis.com",
        "xaiplatform.googleapis.com",
        "a.b-aiplatform.googleapis.com",
        "iam.googleapis.com",
        "us-docker.pkg.dev",
    ],
)
def test_refused_with_a_sentence(name: str) -> None:
    host = find_host(name)
    assert host is not None
    assert f"--allow-host {name} " in host.refused
    assert not host.has_buckets


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("ML.GoogleApis.com.", "ml.googleapis.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[fd20:CE::254]", "fd20:ce::254"),
        ("a_b", "a_b"),
        ("[ml.googleapis.com]", None),
        ("a..b", None),
        (".a", None),
        ("a b", None),
        ("ml.googleapis.com\0", None),
        ("é", None),
        ("a" * 254, None),
        ("", None),
    ],
)
def test_names_are_normalized(given: str, name: str | None) -> None:
    assert normalize(given) == name
