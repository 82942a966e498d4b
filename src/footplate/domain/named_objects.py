"""The objects of buckets that a job names: in arguments, variables, directories. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from footplate.domain.jobs import ContainerProgram, JobSpec, WorkerPool

_PLACE = re.compile(r"(?:gs:/|/gcs)/([a-z0-9][a-z0-9._-]+)((?:/[^\s,;:\"'<>|=]*)?)")
_PATTERN = re.compile(r"[*?\[{$]")
"""Where the part of a path ends that is the same for all that it may mean."""


def find_prefixes(spec: JobSpec, bucket: str) -> tuple[str, ...]:
    """Returns the prefixes of the objects that the job names in the bucket; empty: it names none.

    ``gs://BUCKET/train/part-*`` and ``/gcs/BUCKET/train/part-*`` name ``train/part-``. A bucket
    without a path means all of its objects: the empty prefix.
    """
    found: set[str] = set()
    for text in _texts(spec):
        for name, path in _PLACE.findall(text):
            if name == bucket:
                found.add(_PATTERN.split(path, maxsplit=1)[0].strip("/"))
    shortest = [each for each in sorted(found) if not any(_covers(other, each) for other in found)]
    return tuple(shortest)


def _covers(other: str, name: str) -> bool:
    return other != name and name.startswith(other)


def _texts(spec: JobSpec) -> Iterator[str]:
    yield spec.job_dir or ""
    for directory in spec.directories:
        yield directory.uri
    for pairs in (spec.environment, spec.data):
        yield from (text for _, text in pairs)
    for pool in spec.pools:
        yield from _texts_of(pool)


def _texts_of(pool: WorkerPool) -> Iterator[str]:
    yield from (text for _, text in pool.environment)
    program = pool.program
    yield from program.args or ()
    if isinstance(program, ContainerProgram):
        yield from program.command or ()
