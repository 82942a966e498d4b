"""Warns about data in other regions than the job. Pure.

Source: the training service's overview: a job should run in the region of the bucket that holds
its data; one that runs elsewhere may take longer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.bucket_locations import covers, location_type
from footplate.domain.jobs import PythonProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.domain.jobs import JobSpec

MAX_BUCKETS = 10
"""So many are looked up: arguments may name any number."""
_BUCKET = re.compile(r"(?:gs://|/gcs/)([a-z0-9][a-z0-9._-]{1,220}[a-z0-9])")


def advise_locality(spec: JobSpec, location_of: Callable[[str], str | None]) -> Iterator[str]:
    """One sentence for each bucket; ``location_of`` gives None for one that isn't there."""
    buckets = dict.fromkeys(match[1] for text in _texts(spec) for match in _BUCKET.finditer(text))
    for bucket in list(buckets)[:MAX_BUCKETS]:
        location = location_of(bucket)
        if location is not None and not covers(location, spec.region):
            yield (
                f"gs://{bucket} is in the {location_type(location)} {location}, and the job in "
                f"{spec.region}: reading and writing across regions is slower, and Google charges "
                f"for it; run the job where its data is, or use a bucket in {spec.region}"
            )


def _texts(spec: JobSpec) -> Iterator[str]:
    """All in which a job may name a bucket."""
    yield from (directory.uri for directory in spec.directories)
    for pool in spec.pools:
        program = pool.program
        if isinstance(program, PythonProgram):
            yield from program.package_uris
        else:
            yield from program.command or ()
        yield from program.args or ()
        yield from (value for _, value in pool.environment)
