"""Finds the HTTP request of a gRPC method of Vertex AI that isn't served, to answer it likewise.

The messages of these methods aren't known here, but their clients name the resource in a header,
by which Google's servers route them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl

from footplate.api.unserved_resources import UNSERVED, find_unserved
from footplate.grpc_api.transcoding import HttpRequest

ROUTING = "x-goog-request-params"
_CALL = re.compile(r"/google\.cloud\.aiplatform\.(v1|v1beta1)\.([A-Za-z]++)/([A-Z][a-z]++)(.*+)")
_VERBS = {"List": "GET", "Search": "GET", "Get": "GET", "Delete": "DELETE", "Update": "PATCH"}
_OWNER = re.compile("^(Tensorboard|ModelVersion)")
_COLLECTIONS = {
    re.sub("(ies|es|s|ora)$", "", collection).lower(): collection for collection in UNSERVED
}
"""Collections by the beginning of their names that the singular has, too."""


def unserved_request(name: str, metadata: Iterable[tuple[str, str | bytes]]) -> HttpRequest | None:
    """Returns the request for a call; None if no collection that isn't served is in it.

    ``name`` is gRPC's: ``/PACKAGE.SERVICE/METHOD``.
    """
    found = _CALL.fullmatch(name)
    routed = next((str(value) for key, value in metadata if key == ROUTING), "")
    resource = next((value for _, value in parse_qsl(routed)), "")
    if found is None or not resource:
        return None
    version, service, action, noun = found.groups()
    path = f"/{version}/{resource}"
    words = (noun, _OWNER.sub("", noun), "")
    paths = [path, *(f"{path}:{action.lower()}{word}" for word in words)]
    for text in (noun.lower(), service.lower()):
        stems = sorted((stem for stem in _COLLECTIONS if stem in text), key=len)
        paths += [f"{path}/{_COLLECTIONS[stem]}" for stem in stems[-1:]]
    verb = _VERBS.get(action, "POST")
    body = b"{}" if verb in ("PATCH", "POST") else None
    requests = (HttpRequest(verb, each, b"", body) for each in paths if find_unserved(each))
    return next(requests, None)
