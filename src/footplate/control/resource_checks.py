"""Checks the persistent resource and the TensorBoard that a job names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import NotFound, Violation
from footplate.domain.persistent_resources import ResourceState, misfits, resource_named
from footplate.domain.tracking.names import parse_tracking_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.domain.catalogue import Catalogue
    from footplate.domain.jobs import JobSpec
    from footplate.domain.names import PersistentResourceName
    from footplate.domain.persistent_resources import PersistentResource
    from footplate.domain.submission import Submission
    from footplate.domain.tracking.names import TrackingName


def tensorboard_violations(
    submission: Submission, exists: Callable[[TrackingName], bool]
) -> Iterator[Violation]:
    given = submission.spec.tensorboard
    if given is None or not submission.understood:
        return
    field = _field(submission.spec, "tensorboard")
    if _is_refused(submission, field):
        return
    try:
        found = exists(parse_tracking_name(given))
    except NotFound:
        found = False
    if not found:
        said = f"{given!r} given, which doesn't exist"
        yield Violation(field, f"{said}: create it with aiplatform.Tensorboard.create()")


def resource_violations(
    submission: Submission,
    find: Callable[[PersistentResourceName], PersistentResource | None],
    catalogue: Catalogue,
) -> Iterator[Violation]:
    spec = submission.spec
    name = resource_named(spec, submission.name.project)
    if name is None or not submission.understood:
        return
    field = _field(spec, "persistentResourceId")
    if _is_refused(submission, field):
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


def _field(spec: JobSpec, name: str) -> str:
    """Where it stands in the request."""
    return f"{spec.primary.field.partition('.workerPoolSpecs')[0]}.{name}"


def _is_refused(submission: Submission, field: str) -> bool:
    return any(violation.field == field for violation in submission.violations)
