"""Names the program that sends a request, by what it says of itself in its headers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from starlette.datastructures import Headers

_CLIENTS = (
    ("footplate", "footplate"),
    ("gsutil", "gsutil"),
    ("gcloud", "gcloud"),
    ("Vertex AI SDK", "model-builder"),
    ("google-api-python-client", "gdcl"),
    ("google-cloud-storage", "gcloud-python"),
    ("Google client for Java", "gl-java"),
    ("Google client for Node", "gl-node"),
    ("Google client library", "gapic"),
    ("curl", "curl"),
    ("browser", "mozilla"),
)
"""Names, and the product by which ``PRODUCT/VERSION`` in a header shows them; the first counts."""
_MARKS = tuple(
    (name, re.compile(rf"(?<![\w-]){product}/([\w.-]{{0,40}})", re.IGNORECASE))
    for name, product in _CLIENTS
)
_PRODUCT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._+-]{0,39})")
_GRPC = re.compile(r"(?<![\w-])grpc-[a-z+-]{1,40}/")
OTHER = "other"


@dataclass(frozen=True)
class Client:
    """A calling program. ``name`` is of a known program, or OTHER; ``version`` may be empty."""

    name: str
    version: str = ""
    grpc: bool = False


def find_client(headers: Headers) -> Client:
    agent, libraries = headers.get("user-agent", ""), headers.get("x-goog-api-client", "")
    words = f"{agent} {libraries}"[:1000]
    grpc = _GRPC.search(agent) is not None
    for name, mark in _MARKS:
        if found := mark.search(words):
            return Client(name, found.group(1), grpc)
    return Client(OTHER, "", grpc)


def name_client(headers: Headers) -> str:
    """Returns a name for sentences: a known program, or the first product in ``User-Agent``."""
    client = find_client(headers)
    if client.name != OTHER:
        return client.name
    product = _PRODUCT.match(headers.get("user-agent", ""))
    return product.group() if product else "a client"
