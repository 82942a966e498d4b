"""Gives buckets to projects as the settings say, and names those that belong to none."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from footplate.domain.bucket_sharing import EVERY
from footplate.domain.errors import InvalidArgument, NotFound, Violation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.ports.object_storage import ObjectStorage

log = logging.getLogger(__name__)
_MAX_NAMED = 20


def assign_buckets(
    buckets: ObjectStorage, owners: Sequence[tuple[str, str]], shared: Sequence[str]
) -> None:
    """Assigns buckets to projects. ``owners`` is the setting ``bucket_projects``; ``shared`` is
    ``shared_buckets``.

    Raises InvalidArgument if a bucket doesn't exist.
    """
    for name, project in owners:
        try:
            if buckets.bucket(name).project != project:
                buckets.assign_bucket(name, project)
        except (NotFound, InvalidArgument):
            text = f"{name!r} given; allowed: the names of buckets that exist"
            raise InvalidArgument.of((Violation("bucket_projects", text),)) from None
    if EVERY in shared:
        return
    if found := [bucket.name for bucket in buckets.buckets() if bucket.project is None]:
        more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
        log.warning(
            "Programs of all projects can use these buckets, which belong to no project: %s%s. "
            "The setting bucket_projects (BUCKET=PROJECT) assigns buckets to projects.",
            ", ".join(found[:_MAX_NAMED]),
            more,
        )
