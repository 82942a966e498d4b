"""Warns about the buckets that a job names. Pure.

Source: the training service's overview: a job should run in the region of the bucket that holds
its data; one that runs elsewhere may take longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from footplate.domain import algorithms
from footplate.domain.bucket_locations import covers, location_type
from footplate.domain.bucket_sharing import may_use
from footplate.domain.errors import no_bucket
from footplate.domain.formatting import shortened
from footplate.domain.jobs import JobSpec, PythonProgram

MAX_BUCKETS = 10
"""So many are looked up: arguments may name any number."""
_ADDRESS = re.compile(r"(?:gs://|/gcs/)([a-z0-9][a-z0-9._-]{1,220}[a-z0-9])(?:/[^\s,;:\"'<>|]*)?")


@dataclass(frozen=True)
class NamedBucket:
    """A bucket that a job names; ``project`` is its owner, None if that isn't known."""

    location: str
    project: str | None = None


def advise_buckets(
    spec: JobSpec,
    project: str,
    find: Callable[[str], NamedBucket | None],
    shared: Sequence[str],
    is_made: Callable[[str], bool] = lambda _: False,
) -> Iterator[str]:
    """Yields advice on the buckets that a job names.

    ``find`` returns None for a bucket that doesn't exist. ``shared`` is the setting
    ``shared_buckets``. ``is_made`` returns whether the client is going to make the bucket. For
    directories, packages and data of built-in algorithms the advice concerns only the distance to
    the bucket: if such a bucket doesn't exist, the job is refused elsewhere.
    """
    own = {match[1] for text in _own_places(spec) for match in _ADDRESS.finditer(text)}
    named: dict[str, str] = {}
    for text in (*_own_places(spec), *_texts(spec)):
        for match in _ADDRESS.finditer(text):
            named.setdefault(match[1], match[0])
    for name, address in list(named.items())[:MAX_BUCKETS]:
        bucket = find(name)
        if bucket is None:
            if name not in own and not is_made(name):
                yield f"the job names {shortened(address)}, but {no_bucket(name).message}"
            continue
        if name not in own and not may_use(name, bucket.project, project, shared):
            yield (
                f"the job names {shortened(address)}, but the bucket {name!r} belongs to the "
                f"project {bucket.project!r}. Programs of {project!r} may read it only if the "
                "server's setting shared_buckets names it"
            )
        if not covers(bucket.location, spec.region):
            yield (
                f"gs://{name} is in the {location_type(bucket.location)} {bucket.location}, and "
                f"the job in {spec.region}. Reading and writing across regions is slower, and "
                "Google charges for it: run the job where its data is, or use a bucket in "
                f"{spec.region}"
            )


def _own_places(spec: JobSpec) -> Iterator[str]:
    yield from (directory.uri for directory in spec.directories)
    yield from (text for _, text in spec.data[:1])
    for pool in spec.pools:
        if isinstance(pool.program, PythonProgram):
            yield from pool.program.package_uris
            yield from (uri for _, uri in algorithms.data_uris(pool.program))


def _texts(spec: JobSpec) -> Iterator[str]:
    """Yields the texts, except directories and packages, in which a job may name a bucket."""
    yield from (text for _, text in spec.data[1:])
    for pool in spec.pools:
        program = pool.program
        if not isinstance(program, PythonProgram):
            yield from program.command or ()
        yield from program.args or ()
        yield from (value for _, value in pool.environment)
