"""Checks whether a job's persistent resource exists and has the machines that it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.domain.persistent_resources import ResourceState, misfits, resource_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.domain.catalogue import Catalogue
    from footplate.domain.names import PersistentResourceName
    from footplate.domain.persistent_resources import PersistentResource
    from footplate.domain.submission import Submission


def resource_violations(
    submission: Submission,
    find: Callable[[PersistentResourceName], PersistentResource | None],
    catalogue: Catalogue,
) -> Iterator[Violation]:
    spec = submission.spec
    name = resource_named(spec, submission.name.project)
    if name is None or not submission.understood:
        return
    field = f"{spec.primary.field.partition('.workerPoolSpecs')[0]}.persistentResourceId"
    if any(violation.field == field for violation in submission.violations):
        return
    resource = find(name)
    if resource is None:
        yield Violation(
            field,
            f"{name.resource_id!r} given; project {name.project} has no such persistent resource "
            f"in {name.location}: create it with footplate ai persistent-resources create, or "
            "leave the field out",
        )
    elif resource.state is ResourceState.STOPPING:
        yield Violation(
            field, f"{name.resource_id!r} given, which is being deleted; allowed: another one"
        )
    else:
        yield from misfits(spec, resource, catalogue)
