"""Names of resources that stand within each other: of metadata stores and TensorBoards."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

from footplate.domain.errors import NotFound

STORES, TENSORBOARDS = "metadataStores", "tensorboards"
CONTEXTS, ARTIFACTS, EXECUTIONS = "contexts", "artifacts", "executions"
DATASETS = "datasets"
EXPERIMENTS, RUNS, TIME_SERIES = "experiments", "runs", "timeSeries"
OUTER: Mapping[str, str] = MappingProxyType(
    {
        STORES: "",
        CONTEXTS: STORES,
        ARTIFACTS: STORES,
        EXECUTIONS: STORES,
        TENSORBOARDS: "",
        EXPERIMENTS: TENSORBOARDS,
        RUNS: EXPERIMENTS,
        TIME_SERIES: RUNS,
        DATASETS: "",
    }
)
"""Each collection, and the one that it is in; empty: the location itself."""


@dataclass(frozen=True)
class TrackingName:
    """The name of a resource: ``projects/{project}/locations/{location}/{collection}/{id}/...``.

    ``path`` alternates collections and ids, from the outermost resource inwards.
    """

    project: str
    location: str
    path: tuple[str, ...]

    @property
    def kind(self) -> str:
        return self.path[-2]

    @property
    def id(self) -> str:
        return self.path[-1]

    @property
    def outer(self) -> TrackingName | None:
        """Returns the resource that contains this one; None: it is directly in its location."""
        return replace(self, path=self.path[:-2]) if len(self.path) > 2 else None

    @property
    def collection(self) -> str:
        return str(self).rpartition("/")[0]

    def inner(self, kind: str, own_id: str) -> TrackingName:
        return replace(self, path=(*self.path, kind, own_id))

    def is_in(self, other: TrackingName) -> bool:
        return str(self).startswith(f"{other}/")

    def __str__(self) -> str:
        return "/".join(("projects", self.project, "locations", self.location, *self.path))


def blob_bucket(tensorboard: TrackingName) -> str:
    """Returns the bucket of a project's blobs, named by a digest of the project's name."""
    digest = hashlib.sha256(tensorboard.project.encode()).hexdigest()
    return f"tensorboards-{digest[:16]}"


def parse_tracking_name(text: str) -> TrackingName:
    """Parses a name. Raises NotFound: no such resource could ever have this name."""
    parts = text.split("/")
    kinds = ["", *parts[4::2]]
    nested = all(OUTER.get(kind) == outer for outer, kind in pairwise(kinds))
    complete = len(parts) >= 6 and len(parts) % 2 == 0 and all(parts)
    if not (nested and complete and (parts[0], parts[2]) == ("projects", "locations")):
        raise NotFound(f"{text[:300]!r} is not the name of a resource of metadata or TensorBoards")
    return TrackingName(parts[1], parts[3], tuple(parts[4:]))
