"""Who a client is, by what it says of itself: headers as the real ones send them."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from footplate.api.client_names import Client, find_client, name_client

SDK_REST = (
    "model-builder/2.7.0+top_google_constructor_method gl-python/3.11.2 rest/2.32 gapic/2.7.0"
)
SDK_GRPC = "model-builder/1.71.1 gl-python/3.11.2 grpc/1.66.1 gax/2.19 gapic/1.71.1"


@pytest.mark.parametrize(
    ("agent", "libraries", "client"),
    [
        ("footplate/0.1.0.dev0", "", Client("footplate", "0.1.0.dev0")),
        ("python-requests/2.32", SDK_REST, Client("Vertex AI SDK", "2.7.0")),
        ("grpc-python/1.66.1", SDK_GRPC, Client("Vertex AI SDK", "1.71.1", grpc=True)),
        (
            "google-cloud-sdk gcloud/528.0.0 command/gcloud.ai.custom-jobs.list",
            "gl-python/3.11",
            Client("gcloud", "528.0.0"),
        ),
        (
            "apitools Python/3.11.9 gsutil/5.33 (linux) google-cloud-sdk/528.0.0",
            "",
            Client("gsutil", "5.33"),
        ),
        ("(gzip)", "gdcl/2.197.0 gl-python/3.11.2", Client("google-api-python-client", "2.197.0")),
        (
            "gcloud-python/3.1.0 gl-python/3.11",
            "gl-python/3.11 grpc/1.66.1 gccl/3.1.0",
            Client("google-cloud-storage", "3.1.0"),
        ),
        ("curl/7.88.1", "", Client("curl", "7.88.1")),
        ("my-curl/1", "", Client("other")),
        ("", "", Client("other")),
    ],
)
def test_known_programs_have_a_name_and_a_version(
    agent: str, libraries: str, client: Client
) -> None:
    headers = Headers({"user-agent": agent, "x-goog-api-client": libraries})
    assert find_client(headers) == client


def test_sentences_name_the_product_of_others() -> None:
    assert name_client(Headers({"user-agent": "Wget/1.21 (linux)"})) == "Wget"
    assert name_client(Headers({"user-agent": "<script>"})) == "a client"
    assert name_client(Headers({"user-agent": "gcloud/528.0.0"})) == "gcloud"
