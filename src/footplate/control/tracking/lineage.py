"""Records what belongs to contexts, and what executions read and wrote."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from footplate.domain.errors import FailedPrecondition, InvalidArgument, Violation
from footplate.domain.tracking.names import ARTIFACTS, EXECUTIONS, TrackingName
from footplate.domain.tracking.resources import EVENTS, Link, LinkKind, Resource
from footplate.ports.tracking import TrackingStore

MAX_PARENTS = 10
"""Contexts that one context is in. Source: the reference of addContextChildren."""
MAX_RESOURCES = 1000
"""The most in one answer. Source: the reference of queryArtifactLineageSubgraph."""


@dataclass(frozen=True)
class Subgraph:
    """Artifacts and executions, and the events between them."""

    resources: tuple[Resource, ...]
    events: tuple[Link, ...]

    def of(self, kind: str) -> list[Resource]:
        return [resource for resource in self.resources if resource.name.kind == kind]


class Lineage:
    def __init__(self, store: TrackingStore) -> None:
        self._store = store

    def link(self, source: TrackingName, links: Sequence[Link]) -> None:
        """Links ``source`` to others; skips links that exist already.

        Raises:
            NotFound: ``source`` or a target doesn't exist.
            InvalidArgument: a context would contain itself, or be in too many contexts.
        """
        self._store.get(source)
        children = {link.target for link in links if link.kind is LinkKind.CHILD}
        if children:
            self._check_children(source, children)
        self._store.link(links)

    def unlink(self, context: TrackingName, children: Collection[TrackingName]) -> None:
        """Removes children from a context.

        Raises NotFound; FailedPrecondition: one of them isn't a child of the context.
        """
        self._store.get(context)
        known = {link.target for link in self._store.links((context,), (LinkKind.CHILD,))}
        strange = sorted(str(child) for child in set(children) - known)
        if strange:
            raise FailedPrecondition(f"context {strange[0]} is not a child of context {context}")
        self._store.unlink(context, children)

    def parents(self, contexts: Collection[TrackingName]) -> dict[TrackingName, list[TrackingName]]:
        """Returns for each context the contexts that contain it, oldest first."""
        found: dict[TrackingName, list[TrackingName]] = {}
        for link in self._store.links(contexts, (LinkKind.CHILD,), upwards=True):
            found.setdefault(link.target, []).append(link.source)
        return found

    def of_context(self, context: TrackingName) -> Subgraph:
        """Returns everything in the context, with the events in between. Raises NotFound."""
        self._store.get(context)
        members = self._store.links((context,), (LinkKind.MEMBER,))
        names = {link.target for link in members}
        return self._subgraph(names, self._events_within(names))

    def of_execution(self, execution: TrackingName) -> Subgraph:
        """Returns the execution, and the artifacts that it read and wrote. Raises NotFound."""
        self._store.get(execution)
        events = self._store.links((execution,), EVENTS)
        return self._subgraph({execution, *(link.target for link in events)}, events)

    def of_artifact(self, artifact: TrackingName, max_hops: int) -> Subgraph:
        """Returns what is at most ``max_hops`` events away, up to 1000. Raises NotFound."""
        self._store.get(artifact)
        names = reached = {artifact}
        for _ in range(max_hops):
            near = {end for link in self._events_of(reached) for end in (link.source, link.target)}
            reached = near - names
            if not reached or len(names) >= MAX_RESOURCES:
                break
            names = names | reached
        names = set(sorted(names, key=lambda name: (name != artifact, str(name)))[:MAX_RESOURCES])
        return self._subgraph(names, self._events_within(names))

    def _events_of(self, names: Collection[TrackingName]) -> tuple[Link, ...]:
        executions = [name for name in names if name.kind == EXECUTIONS]
        artifacts = [name for name in names if name.kind == ARTIFACTS]
        return (
            *self._store.links(executions, EVENTS),
            *self._store.links(artifacts, EVENTS, upwards=True),
        )

    def _events_within(self, names: Collection[TrackingName]) -> tuple[Link, ...]:
        executions = [name for name in names if name.kind == EXECUTIONS]
        return tuple(e for e in self._store.links(executions, EVENTS) if e.target in names)

    def _subgraph(self, names: Collection[TrackingName], events: Sequence[Link]) -> Subgraph:
        return Subgraph(self._store.find(names), tuple(events))

    def _check_children(self, context: TrackingName, children: Collection[TrackingName]) -> None:
        above, reached = {context}, {context}
        while reached:
            found = self.parents(reached).values()
            reached = {parent for parents in found for parent in parents} - above
            above |= reached
        parents = self.parents(children)
        for child in sorted(children, key=str):
            if child in above:
                raise _wrong(
                    f"{child} given, which contains {context}; allowed: a context that doesn't "
                    "contain it"
                )
            if len({*parents.get(child, ()), context}) > MAX_PARENTS:
                raise _wrong(
                    f"{child} given, which is in {MAX_PARENTS} contexts already; a context can be "
                    "in no more"
                )


def _wrong(said: str) -> InvalidArgument:
    return InvalidArgument.of((Violation("childContexts", said),))
