"""The requests to MetadataService and TensorboardService.

Every function raises InvalidArgument with what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.tracking.names import OUTER, TrackingName, parse_tracking_name
from footplate.domain.tracking.resources import EVENTS, Fields, Link, LinkKind, check_link
from footplate.wire.json_model import JsonModel, refuse
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.shared_rules import check_labels
from footplate.wire.vertex_v1 import tracking_models as models
from footplate.wire.vertex_v1.rules.tracking import check_id, check_resource
from footplate.wire.vertex_v1.tracking_kinds import Kind

MAX_BATCH = 1000
"""Resources that are created together. Source: the reference of the batchCreate methods."""
_NOT_KEPT = ("etag",)
_EVENTS = {models.EventType.INPUT: LinkKind.INPUT, models.EventType.OUTPUT: LinkKind.OUTPUT}


@dataclass(frozen=True)
class Patch:
    """A patch: sets the fields ``names`` to their values in ``given``."""

    given: Fields
    names: tuple[str, ...]
    etag: str | None


def read_new(kind: Kind, body: JsonObject) -> Fields:
    understood = kind.model.understand(body)
    refuse(understood.with_rules(check_resource(kind, understood.message)))
    return _fields(understood.message)


def read_patch(kind: Kind, body: JsonObject, mask: str | None) -> Patch:
    """Reads a patch; ``mask`` lists the fields to set; without it all given ones are set."""
    understood = kind.model.understand(body)
    names = _masked(kind, mask) if (mask or "*") != "*" else None
    given = _fields(understood.message)
    if names is None:
        names = tuple(name for name in kind.patched if name in given)
    found = understood.with_rules(check_resource(kind, understood.message))
    masked = tuple(v for v in found if v.field.split(".")[0] in names)
    refuse(tuple(dict.fromkeys((*understood.unknown, *masked))))
    message = understood.message
    return Patch(given, names, message.etag if isinstance(message, models.Named) else None)


def read_id(kind: Kind, given: str | None) -> str | None:
    """Returns the id that a client chose; None: it chose none. Raises InvalidArgument."""
    if not given:
        return None
    if not kind.client_id:
        raise _wrong(
            kind.id_field,
            f"{describe(given)} given; allowed: no id, because the service chooses the id",
        )
    refuse(tuple(check_id(given, kind.id_field)))
    return given


def read_batch(
    kind: Kind, parent: TrackingName, body: JsonObject, message: type[JsonModel]
) -> list[tuple[TrackingName, str | None, Fields]]:
    """Reads a batchCreate: for each resource its parent, its id if one is given, and its fields."""
    understood = message.understand(body)
    refuse(understood.violations)
    requests: Sequence[JsonObject] = understood.message.encode().get("requests") or []  # type: ignore[assignment]  # it is checked
    if not 1 <= len(requests) <= MAX_BATCH:
        raise _wrong("requests", f"{len(requests)} given; allowed: 1 to {MAX_BATCH}")
    made, violations = [], []
    for number, request in enumerate(requests):
        at = f"requests[{number}]"
        outer, given = str(request.get("parent") or parent), request.get(kind.field) or {}
        own_id = request.get(kind.id_field)
        item = kind.model.decode(given if isinstance(given, dict) else {})
        violations += [*check_resource(kind, item, f"{at}.{kind.field}.")]
        if own_id:
            violations += [*check_id(str(own_id), f"{at}.{kind.id_field}")]
        name = _name(outer, f"{at}.parent")
        kind_of_outer = OUTER[kind.collection]
        if name.kind != kind_of_outer or not (name == parent or name.is_in(parent)):
            rule = f"{outer} given; allowed: {parent}, or a name of {kind_of_outer} below {parent}"
            violations.append(Violation(f"{at}.parent", rule))
        made.append((name, str(own_id) if own_id else None, _fields(item)))
    refuse(tuple(violations))
    return made


def read_members(context: TrackingName, body: JsonObject, now: datetime) -> list[Link]:
    message = models.AddContextArtifactsAndExecutions.decode(body)
    return [
        *_links(context, LinkKind.MEMBER, "artifacts", message.artifacts, now),
        *_links(context, LinkKind.MEMBER, "executions", message.executions, now),
    ]


def read_children(context: TrackingName, body: JsonObject, now: datetime) -> list[Link]:
    message = models.ContextChildren.decode(body)
    return [*_links(context, LinkKind.CHILD, "childContexts", message.child_contexts, now)]


def read_events(execution: TrackingName, body: JsonObject, now: datetime) -> list[Link]:
    understood = models.AddExecutionEvents.understand(body)
    events = understood.message.events or []
    refuse(understood.with_rules(_check_events(execution, events)))
    links = []
    for number, event in enumerate(events):
        at = f"events[{number}].artifact"
        kind = _EVENTS[event.type or models.EventType.INPUT]
        labels = tuple((event.labels or {}).items())
        link = Link(execution, kind, _name(event.artifact or "", at), now, labels)
        check_link(link, at)
        links.append(link)
    return links


def _check_events(execution: TrackingName, events: Sequence[models.Event]) -> Iterator[Violation]:
    for number, event in enumerate(events):
        at = f"events[{number}]"
        if event.type not in _EVENTS:
            given = f"{event.type.name} given" if event.type is not None else "required"
            allowed = ", ".join(kind.value.upper() for kind in EVENTS)
            yield Violation(f"{at}.type", f"{given}; allowed: {allowed}")
        if event.execution and event.execution != str(execution):
            rule = f"{describe(event.execution)} given; allowed: {execution}, or none"
            yield Violation(f"{at}.execution", rule)
        yield from check_labels(event.labels or {}, f"{at}.labels")


def _links(
    source: TrackingName, kind: LinkKind, field: str, given: list[str] | None, now: datetime
) -> Iterator[Link]:
    for number, text in enumerate(given or ()):
        at = f"{field}[{number}]"
        link = Link(source, kind, _name(text, at), now)
        check_link(link, at)
        yield link


def _name(text: str, field: str) -> TrackingName:
    try:
        return parse_tracking_name(text)
    except NotFound:
        rule = "the name of a resource, projects/PROJECT/locations/LOCATION/..."
        raise _wrong(field, f"{describe(text)} given; allowed: {rule}") from None


def _masked(kind: Kind, mask: str | None) -> tuple[str, ...]:
    """Returns the fields that a mask names, in either spelling."""
    known = {_snake(name): name for name in kind.patched} | {name: name for name in kind.patched}
    names = [text for each in (mask or "").split(",") if (text := each.strip())]
    strange = next((name for name in names if name not in known), None)
    if strange is not None:
        allowed = ", ".join(kind.patched) or "none"
        raise _wrong("updateMask", f"{describe(strange)} given; allowed: {allowed}")
    return tuple(known[name] for name in names)


def _fields(message: models.Tracked) -> Fields:
    return {key: value for key, value in message.encode().items() if key not in _NOT_KEPT}


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def _wrong(field: str, said: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, said),))
