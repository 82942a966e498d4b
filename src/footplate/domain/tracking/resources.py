"""Resources of metadata stores and TensorBoards, how they change, and what links them. Pure.

All are of one shape: a name, times, and the fields that clients give.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum

from footplate.domain.errors import Aborted, InvalidArgument, Violation
from footplate.domain.tracking.names import (
    ARTIFACTS,
    CONTEXTS,
    EXECUTIONS,
    RUNS,
    TENSORBOARDS,
    TIME_SERIES,
    TrackingName,
)

Fields = Mapping[str, object]
"""By the names of the API, as JSON has them."""
DISPLAY_NAME = "displayName"
DEFAULT = "isDefault"
_SINGULAR = {CONTEXTS: "Context", ARTIFACTS: "Artifact", EXECUTIONS: "Execution"}
_UNIQUE = frozenset({RUNS, TIME_SERIES})
"""Of these no two in one collection have the same display name."""


@dataclass(frozen=True)
class Resource:
    """A resource of a metadata store or a TensorBoard.

    ``version`` counts the writes of the record; ``uid`` is never reused.
    """

    name: TrackingName
    uid: str
    create_time: datetime
    update_time: datetime
    fields: Fields = field(default_factory=dict)
    version: int = 1

    @property
    def etag(self) -> str:
        """Returns the version in fixed width, because the SDK compares etags as texts."""
        return f"{self.version:010}"

    def text(self, name: str) -> str:
        """Returns a field as text; empty: it isn't given."""
        return str(self.fields.get(name) or "")

    @property
    def unique_key(self) -> str | None:
        """Returns a text that no two resources of a collection share; None: it has none."""
        if self.name.kind in _UNIQUE:
            return self.text(DISPLAY_NAME) or None
        if self.name.kind == TENSORBOARDS and self.fields.get(DEFAULT):
            return DEFAULT
        return None


class LinkKind(Enum):
    """The kind of a link.

    CHILD and MEMBER lead from a context, INPUT and OUTPUT from an execution to an artifact.
    """

    CHILD = "child"
    MEMBER = "member"
    INPUT = "input"
    OUTPUT = "output"


EVENTS = (LinkKind.INPUT, LinkKind.OUTPUT)
_ENDS: Mapping[LinkKind, tuple[str, tuple[str, ...]]] = {
    LinkKind.CHILD: (CONTEXTS, (CONTEXTS,)),
    LinkKind.MEMBER: (CONTEXTS, (ARTIFACTS, EXECUTIONS)),
    LinkKind.INPUT: (EXECUTIONS, (ARTIFACTS,)),
    LinkKind.OUTPUT: (EXECUTIONS, (ARTIFACTS,)),
}


@dataclass(frozen=True)
class Link:
    """A link between two resources; there is at most one between the same two."""

    source: TrackingName
    kind: LinkKind
    target: TrackingName
    time: datetime
    labels: tuple[tuple[str, str], ...] = ()


def check_link(link: Link, at: str) -> None:
    """Checks that a link may connect these resources; ``at`` is the request's field of the target.

    Raises InvalidArgument.
    """
    _, targets = _ENDS[link.kind]
    target = link.target
    if target.kind not in targets or target.outer != link.source.outer:
        rule = f"a name in {link.source.outer}/{' or '.join(targets)}"
        raise InvalidArgument.of((Violation(at, f"{target} given; allowed: {rule}"),))
    if target == link.source:
        raise InvalidArgument.of((Violation(at, f"{target} given; allowed: another context"),))


def check_etag(resource: Resource, etag: str | None) -> None:
    """Checks a request's etag. Raises Aborted: the caller read an earlier version of the resource.

    The Vertex SDK recognises the error by the beginning of its text: it reads again and retries.
    """
    if etag and etag != resource.etag:
        kind = _SINGULAR.get(resource.name.kind, "resource")
        raise Aborted(
            f"Specified {kind} `etag`: `{etag[:80]}` does not match server `etag`: "
            f"`{resource.etag}`: {resource.name} has changed; read it again, then change it"
        )


def change_fields(
    resource: Resource, given: Fields, names: Collection[str], at: datetime
) -> Resource:
    """Sets the fields ``names`` to the values in ``given``, and removes those that it lacks."""
    kept = {name: value for name, value in resource.fields.items() if name not in names}
    fields = kept | {name: given[name] for name in names if name in given}
    return replace(resource, fields=fields, update_time=at, version=resource.version + 1)
