"""Checks that the files and images that a job names exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from footplate.domain import algorithms, package_formats
from footplate.domain.errors import InvalidArgument, NotFound, Violation, no_bucket
from footplate.domain.formatting import shortened
from footplate.domain.jobs import Directory, JobSpec, PythonProgram
from footplate.domain.names import GcsUri
from footplate.domain.preview.source_patterns import Use
from footplate.domain.runtimes import Runtimes
from footplate.ports.buckets import Buckets


@dataclass(frozen=True)
class Staging:
    """The files that a client will have uploaded before its submit: everything below ``prefix``.

    ``makes_bucket``: the client also makes the bucket if it is missing. ``uses`` is what the client
    found in the packages.
    """

    prefix: GcsUri | None = None
    makes_bucket: bool = False
    uses: tuple[Use, ...] = ()

    def has(self, uri: GcsUri) -> bool:
        """Returns whether the object will exist."""
        prefix = self.prefix
        return prefix is not None and (
            uri.bucket == prefix.bucket and uri.path.startswith(prefix.path)
        )

    def makes(self, bucket: str) -> bool:
        return self.makes_bucket and self.prefix is not None and self.prefix.bucket == bucket


NOTHING = Staging()


def no_paths(_path: str) -> str | None:
    """Returns the message of a server without host directories."""
    return "allowed: gs://BUCKET/PATH"


def violations(
    spec: JobSpec,
    buckets: Buckets,
    runtimes: Runtimes,
    staging: Staging = NOTHING,
    path_fault: Callable[[str], str | None] = no_paths,
) -> tuple[Violation, ...]:
    """Returns a violation for each missing bucket, package and runtime that the job names.

    Each field has at most one. The spec may be that of an invalid job: names that can't be looked
    up get a violation at the same field as their other faults. ``path_fault`` returns why a job
    can't have a directory outside the buckets.
    """
    preflight = _Preflight(buckets, runtimes, staging, path_fault)
    return joined(preflight.violations(spec))


def joined(*groups: Iterable[Violation]) -> tuple[Violation, ...]:
    """Returns the violations, at most one for each field: the first."""
    first: dict[str, Violation] = {}
    for group in groups:
        for violation in group:
            first.setdefault(violation.field, violation)
    return tuple(first.values())


@dataclass(frozen=True)
class _Preflight:
    buckets: Buckets
    runtimes: Runtimes
    staging: Staging
    path_fault: Callable[[str], str | None]

    def violations(self, spec: JobSpec) -> Iterator[Violation]:
        for directory in dict.fromkeys(spec.directories):
            yield from self._directory(directory)
        for _, uri in spec.data[:1]:
            yield from self._data(uri, "inputDataConfig.gcsDestination.outputUriPrefix")
        programs = dict.fromkeys((pool.field, pool.program) for pool in spec.pools)
        for field, program in programs:
            if isinstance(program, PythonProgram):
                yield from self._program(program, field)

    def _directory(self, directory: Directory) -> Iterator[Violation]:
        if not directory.uri.startswith("gs://"):
            yield from self._plain_directory(directory)
            return
        try:
            uri = GcsUri.parse(directory.uri, directory.field)
            if self.staging.makes(uri.bucket):
                return
            self._require_bucket(uri)
            if self.buckets.bucket(uri.bucket).read_only:
                text = f"{shortened(str(uri))} is in a read-only bucket; choose another bucket"
                yield Violation(directory.field, text)
                return
            taken = self._find_object(uri, folder=self.buckets.local_path(uri) is not None)
        except (InvalidArgument, NotFound) as error:
            yield _wrong(directory.field, error)
        else:
            if taken is not None:
                text = f"{shortened(str(taken))} is an object; allowed: a directory"
                yield Violation(directory.field, text)

    def _plain_directory(self, directory: Directory) -> Iterator[Violation]:
        """Yields why a path can't be a directory; relative paths were refused before."""
        fault = self.path_fault(directory.uri) if directory.uri.startswith("/") else None
        if fault is not None:
            yield Violation(directory.field, f"{shortened(directory.uri)!r} given; {fault}")

    def _find_object(self, uri: GcsUri, *, folder: bool) -> GcsUri | None:
        """Returns an object in a directory's way, at its path or, for a ``folder``, above it."""
        parts = uri.path.rstrip("/").split("/")
        first = 1 if folder else len(parts)
        for length in range(first, len(parts) + 1):
            place = GcsUri(uri.bucket, "/".join(parts[:length]))
            if place.path and self._is_object(place):
                return place
        return None

    def _is_object(self, uri: GcsUri) -> bool:
        try:
            self.buckets.stat(uri.bucket, uri.path)
        except NotFound:
            return False
        return True

    def _program(self, program: PythonProgram, field: str) -> Iterator[Violation]:
        """Yields faults of a program; a missing image was reported before."""
        try:
            if program.runtime != "image:":
                self.runtimes.resolve(program.runtime, field)
        except InvalidArgument as error:
            yield from error.violations or (Violation(field, error.message),)
        for index, uri in algorithms.data_uris(program):
            yield from self._data(uri, f"{field}.args[{index}]")
        for index, uri in enumerate(program.package_uris):
            yield from self._package(uri, f"{field}.packageUris[{index}]")

    def _data(self, text: str, field: str) -> Iterator[Violation]:
        """Yields faults of an algorithm's data; files may be uploaded until the job starts."""
        try:
            uri = GcsUri.parse(text, field)
            if not self.staging.makes(uri.bucket):
                self._require_bucket(uri)
        except (InvalidArgument, NotFound) as error:
            yield _wrong(field, error)

    def _package(self, text: str, field: str) -> Iterator[Violation]:
        try:
            uri = GcsUri.parse(text, field)
            if self.staging.makes(uri.bucket):
                return
            self._require_bucket(uri)
            if not self.staging.has(uri):
                self._require_object(uri)
                yield from self._package_kind(uri, field)
            elif fault := package_formats.refusal(uri.path):
                yield Violation(field, f"{shortened(str(uri))} {fault}")
        except (InvalidArgument, NotFound) as error:
            yield _wrong(field, error)

    def _package_kind(self, uri: GcsUri, field: str) -> Iterator[Violation]:
        with self.buckets.read(uri.bucket, uri.path) as content:
            head = content.read(package_formats.HEAD_BYTES)
        fault = package_formats.refusal(uri.path, head)
        if fault is not None:
            yield Violation(field, f"{shortened(str(uri))} {fault}")

    def _require_bucket(self, uri: GcsUri) -> None:
        try:
            self.buckets.bucket(uri.bucket)
        except NotFound:
            said = no_bucket(uri.bucket).message
            raise NotFound(f"{shortened(str(uri))}: {said}") from None

    def _require_object(self, uri: GcsUri) -> None:
        try:
            self.buckets.stat(uri.bucket, uri.path)
        except NotFound:
            raise NotFound(f"{shortened(str(uri))} does not exist; upload it first") from None


def _wrong(field: str, error: InvalidArgument | NotFound) -> Violation:
    """Makes a violation at ``field`` from an error, which may name another field."""
    described = error.violations[0].description if error.violations else error.message
    return Violation(field, described)
