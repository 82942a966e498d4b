"""What a job names must be there before it is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.jobs import Directory, JobSpec, PythonProgram
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.runtimes import Runtimes
    from footplate.ports.buckets import Buckets


def check(spec: JobSpec, buckets: Buckets, runtimes: Runtimes) -> None:
    """Every bucket, package and runtime that the job names is there.

    Raises:
        InvalidArgument: all that is missing, each with its field, and the way out.
    """
    violations = tuple(_violations(spec, buckets, runtimes))
    if violations:
        raise InvalidArgument.of(violations)


def _violations(spec: JobSpec, buckets: Buckets, runtimes: Runtimes) -> Iterator[Violation]:
    for directory in spec.directories:
        yield from _directory(directory, buckets)
    for pool in spec.pools:
        if isinstance(pool.program, PythonProgram):
            yield from _program(pool.program, pool.field, buckets, runtimes)


def _directory(directory: Directory, buckets: Buckets) -> Iterator[Violation]:
    if not directory.uri.startswith("gs://"):
        return
    uri = GcsUri.parse(directory.uri, directory.field)
    try:
        buckets.bucket(uri.bucket)
        buckets.local_path(uri)
        taken = bool(uri.path) and _is_object(uri, buckets)
    except NotFound:
        yield Violation(directory.field, _missing_bucket(uri))
    except InvalidArgument as error:
        yield Violation(directory.field, error.message)
    else:
        if taken:
            yield Violation(directory.field, f"{uri} is an object; allowed: a directory")


def _is_object(uri: GcsUri, buckets: Buckets) -> bool:
    try:
        buckets.stat(uri.bucket, uri.path.rstrip("/"))
    except NotFound:
        return False
    return True


def _program(
    program: PythonProgram, field: str, buckets: Buckets, runtimes: Runtimes
) -> Iterator[Violation]:
    try:
        runtimes.resolve(program.runtime, field)
    except InvalidArgument as error:
        yield from error.violations or (Violation(field, error.message),)
    for index, uri in enumerate(program.package_uris):
        yield from _package(uri, f"{field}.packageUris[{index}]", buckets)


def _package(uri: str, field: str, buckets: Buckets) -> Iterator[Violation]:
    try:
        package = GcsUri.parse(uri, field)
        buckets.bucket(package.bucket)
    except NotFound:
        yield Violation(field, _missing_bucket(package))
        return
    except InvalidArgument as error:
        yield from error.violations or (Violation(field, error.message),)
        return
    try:
        buckets.stat(package.bucket, package.path)
    except NotFound:
        yield Violation(field, f"{uri} is not there; upload it first")
    except InvalidArgument as error:
        yield Violation(field, error.message)


def _missing_bucket(uri: GcsUri) -> str:
    name = uri.bucket
    return (
        f"{uri} given, but there is no bucket {name!r} here; "
        f"make it with `footplate storage buckets create {name}`"
    )
