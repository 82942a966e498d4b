"""Query parameters of Google's JSON APIs: which are honoured, without effect, or refused.

One that stands in no table is refused, as Google's services do: a list that ignores a filter
would hand out too much. Cloud Storage has tables of its own (``storage_v1``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pydantic.alias_generators import to_camel

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.partial_responses import parse_fields, select_fields
from footplate.wire.vertex_v1.tracking_kinds import KINDS

GOOGLES = re.compile(r"/(v1|v1beta1|v2)/")
"""What the paths of these APIs begin with; our own API has no such table."""
STANDARD: Mapping[str, str] = MappingProxyType(
    {
        "$.xgafv": "the form of errors is always the same",
        "access_token": (
            "the service reads a token from the Authorization header or from the parameter 'key'"
        ),
        "alt": "answers are JSON",
        "$alt": "answers are JSON, with enums by name",
        "key": (
            "the service reads a token from the Authorization header or from the parameter 'key'"
        ),
        "oauth_token": (
            "the service reads a token from the Authorization header or from the parameter 'key'"
        ),
        "prettyPrint": "the server always writes JSON without line breaks",
        "quotaUser": "the service has no quota of requests",
        "uploadType": "this method uploads nothing",
        "upload_protocol": "this method uploads nothing",
    }
)
"""Without effect at every method; ``fields`` is honoured by all."""
_PAGES = ("pageSize", "pageToken")
_LISTED = ("filter", *_PAGES)
_JOBS = ("customJobs", "hyperparameterTuningJobs", "trainingPipelines")
HONOURED: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("GET", "jobs"): (*_LISTED, "orderBy"),
        ("PATCH", "jobs/*"): ("updateMask",),
        **{("GET", kind): (*_LISTED, "orderBy", "readMask") for kind in (*_JOBS, "models")},
        ("PATCH", "models/*"): ("updateMask",),
        ("GET", "models/*:listVersions"): ("orderBy", "readMask"),
        ("GET", "persistentResources"): _PAGES,
        ("POST", "persistentResources"): ("persistentResourceId",),
        ("PATCH", "persistentResources/*"): ("updateMask",),
        ("GET", "studies"): _PAGES,
        ("POST", "studies"): ("learnFrom", "studyId"),
        ("GET", "trials"): _PAGES,
        ("GET", "logs"): _PAGES,
        **{("GET", kind): (*_LISTED, "orderBy", "readMask") for kind in KINDS},
        **{("POST", name): (kind.id_field,) for name, kind in KINDS.items() if kind.client_id},
        **{
            ("PATCH", f"{name}/*"): ("updateMask", *(("allowMissing",) if kind.is_node else ()))
            for name, kind in KINDS.items()
        },
        **{("DELETE", f"{kind}/*"): ("etag",) for kind in KINDS},
        ("GET", "artifacts/*:queryArtifactLineageSubgraph"): ("filter", "maxHops"),
        ("GET", "datasets"): (*_LISTED, "orderBy", "readMask"),
        ("GET", "datasets/*"): ("readMask",),
        ("PATCH", "datasets/*"): ("updateMask",),
        ("GET", "timeSeries/*:read"): ("filter", "maxDataPoints"),
        ("GET", "tensorboards/*:batchRead"): ("timeSeries",),
    }
)
"""By verb and the end of the path: the last resource, and what is done with it."""
_NONE = "the list is empty or fits on one page"
_PAGED = dict.fromkeys(_PAGES, _NONE)
WITHOUT_EFFECT: Mapping[tuple[str, str], Mapping[str, str]] = MappingProxyType(
    {
        ("GET", "locations"): _PAGED,
        ("GET", "operations"): dict.fromkeys((*_LISTED, "returnPartialSuccess"), _NONE),
        ("GET", "services"): {**_PAGED, "filter": "all services are enabled"},
        ("GET", "models/*:listVersions"): _PAGED,
        ("GET", "jobs/*:getIamPolicy"): {
            "options.requestedPolicyVersion": (
                "the service has no IAM policies, so their version doesn't matter"
            )
        },
        ("DELETE", "contexts/*"): {"force": "Google's documentation doesn't say what force does"},
        ("DELETE", "metadataStores/*"): {"force": "Google's service no longer reads force"},
    }
)
_NO_EFFECT: Mapping[str, str] = MappingProxyType({})


def end_of(path: str) -> str:
    """Returns the end of a route's path, with ``*`` for names: ``jobs/*:cancel``."""
    shape = re.sub(r"\{[^{}]*\}", "*", path)
    resource, _, action = shape.rpartition("/")[2].partition(":")
    if resource == "*":
        resource = f"{shape.rstrip('/').split('/')[-2]}/*"
    return f"{resource}:{action}" if action else resource


class Parameters:
    """The query parameters of one method; ``path`` is its route's."""

    def __init__(self, verb: str, path: str) -> None:
        place = (verb, end_of(path))
        self.honoured = frozenset({"fields", *HONOURED.get(place, ())})
        self._of_one = place[1].endswith("/*")
        self.without_effect = {**STANDARD, **WITHOUT_EFFECT.get(place, _NO_EFFECT)}

    def check(self, query: Iterable[tuple[str, str]]) -> None:
        """Raises InvalidArgument, which names all parameters that aren't honoured."""
        wrong = []
        for name, value in query:
            known = {name, to_camel(name)}
            if known.isdisjoint(self.honoured) and known.isdisjoint(self.without_effect):
                allowed = ", ".join(sorted(self.honoured))
                said = f"unknown name: this method has no such query parameter; allowed: {allowed}"
                wrong.append(Violation(name[:100], said))
            elif name in ("alt", "$alt") and value.partition(";")[0] not in ("", "json"):
                wrong.append(Violation(name, f"{describe(value)} given; allowed: json"))
            elif name == "fields":
                parse_fields(value)
            elif to_camel(name) == "readMask":
                parse_fields(_as_fields(value), "readMask")
        if wrong:
            raise InvalidArgument.of(tuple(wrong))

    def select(self, answer: JsonObject, query: Mapping[str, str]) -> JsonObject:
        """Returns the parts of the answer that ``fields`` and ``readMask`` ask for."""
        mask = query.get("readMask") or query.get("read_mask")
        if mask and "readMask" in self.honoured:
            select = select_fields if self._of_one else _select_items
            answer = select(answer, _as_fields(mask))
        fields = query.get("fields")
        return select_fields(answer, fields) if fields else answer


def _as_fields(mask: str) -> str:
    """Converts a mask to ``fields``: ``display_name,error.code`` to ``displayName,error/code``."""
    paths = [path.replace(".", "/").split("/") for path in mask.split(",")]
    return ",".join("/".join(map(to_camel, path)) for path in paths)


def _select_items(answer: JsonObject, fields: str) -> JsonObject:
    return {
        name: [select_fields(each, fields) if isinstance(each, dict) else each for each in value]
        if isinstance(value, list)
        else value
        for name, value in answer.items()
    }
