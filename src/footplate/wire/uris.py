"""Rules for URIs of files and directories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.names import GcsUri
from footplate.domain.package_formats import is_module
from footplate.wire.json_text import describe

MAX_PACKAGES = 100


def check_directory(uri: str, field: str) -> Iterator[Violation]:
    """Yields a fault unless a URI is a directory in a bucket, or a path of the machine.

    Only this service allows paths; Google's doesn't.
    """
    if uri.startswith("/"):
        if ".." in uri.split("/"):
            yield Violation(field, f"{describe(uri)} given; allowed: a path without ..")
        return
    try:
        GcsUri.parse(uri, field)
    except InvalidArgument:
        # Paths of the machine are for servers with job_dir_roots: to name them misleads the others.
        yield Violation(field, f"{describe(uri)} given; allowed: gs://BUCKET/PATH")


def check_packages(uris: Sequence[str] | None, field: str) -> Iterator[Violation]:
    if not uris:
        yield Violation(field, "required: the gs:// URIs of the packages that hold the program")
        return
    if len(uris) > MAX_PACKAGES:
        yield Violation(field, f"{len(uris)} given; allowed: at most {MAX_PACKAGES}")
        return
    for index, uri in enumerate(uris):
        try:
            package = GcsUri.parse(uri, field)
        except InvalidArgument:
            package = None
        if package is None or not package.path or package.path.endswith("/"):
            allowed = "gs://BUCKET/PATH of a package file"
            yield Violation(f"{field}[{index}]", f"{describe(uri)} given; allowed: {allowed}")


def check_module(module: str | None, field: str) -> Iterator[Violation]:
    if not module:
        yield Violation(field, "required: the module to run, such as trainer.task")
    elif not is_module(module):
        allowed = "a dotted module name, such as trainer.task"
        yield Violation(field, f"{describe(module)} given; allowed: {allowed}")
