"""Bindings of buckets to storage outside the data directory, from the setting ``buckets``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from footplate.buckets.names import check_bucket_name
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import nearest

_KEYS = ("name", "target", "read_only", "project", "endpoint")
_TARGETS = "an absolute path such as /srv/datasets, gs://BUCKET/PREFIX, s3://BUCKET/PREFIX"
_REMOTE = re.compile(r"(gs|s3)://([A-Za-z0-9][A-Za-z0-9._-]{1,221})(/.*)?")
_ENDPOINT = re.compile(r"https?://[^/?#@]+(/[^?#]*)?")


@dataclass(frozen=True)
class RemoteTarget:
    """A bucket of another service, ``gs`` or ``s3``; ``prefix`` is empty or ends in a slash."""

    kind: str
    bucket: str
    prefix: str


@dataclass(frozen=True)
class BucketBinding:
    """The binding of a bucket to other storage.

    ``project`` owns the bucket; None: all may use it, or the owner stays. ``endpoint`` is the
    address of a store other than Google's or Amazon's own.
    """

    name: str
    target: str
    read_only: bool = False
    project: str | None = None
    endpoint: str | None = None

    @property
    def folder(self) -> Path | None:
        """Returns the real path, so that no link is followed below it; None: it is remote."""
        if self.remote is not None:
            return None
        return Path(self.target).expanduser().resolve()

    @property
    def remote(self) -> RemoteTarget | None:
        found = _REMOTE.fullmatch(self.target)
        if found is None:
            return None
        kind, bucket, path = found.groups()
        prefix = (path or "").strip("/")
        return RemoteTarget(kind, bucket, f"{prefix}/" if prefix else "")


def read_bindings(value: object) -> tuple[BucketBinding, ...]:
    """Reads tables such as ``{name = "data", target = "/srv/datasets", read_only = true}``.

    Raises InvalidArgument with all faults, TypeError.
    """
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise TypeError("[[buckets]] tables in footplate.toml")
    violations = [wrong for index, table in enumerate(value) for wrong in _check(index, table)]
    names = [table.get("name") for table in value]
    for index, name in enumerate(names):
        if isinstance(name, str) and name in names[:index]:
            first = f"{name!r} is already the name of buckets[{names.index(name)}]"
            text = f"{first}; allowed: each name once"
            violations.append(Violation(f"buckets[{index}].name", text))
    if violations:
        raise InvalidArgument.of(tuple(violations))
    return tuple(BucketBinding(**table) for table in value)


def check_folders(bindings: Sequence[BucketBinding], data_dir: Path) -> None:
    """Checks bound folders. Raises InvalidArgument with all that can't be buckets here."""
    violations: list[Violation] = []
    folders: list[Path] = []
    for index, binding in enumerate(bindings):
        folder = binding.folder
        fault = "" if folder is None else _find_folder_fault(folder, data_dir.resolve(), folders)
        if fault:
            violations.append(Violation(f"buckets[{index}].target", fault))
        if (data_dir / "buckets" / binding.name).is_dir():
            text = (
                f"{binding.name!r} given, but the data directory has a bucket of that name; "
                "choose another name, or delete that bucket first"
            )
            violations.append(Violation(f"buckets[{index}].name", text))
        if folder is not None:
            folders.append(folder)
    if violations:
        raise InvalidArgument.of(tuple(violations))


def _find_folder_fault(folder: Path, data_dir: Path, others: Sequence[Path]) -> str:
    if not folder.is_dir():
        return (
            f"{str(folder)!r} is not a folder of this machine; make it, or mount its disk, before "
            "the server starts"
        )
    if folder.is_relative_to(data_dir) or data_dir.is_relative_to(folder):
        return f"{str(folder)!r} overlaps the data directory {data_dir}; choose a folder outside it"
    for other in others:
        if folder.is_relative_to(other) or other.is_relative_to(folder):
            return (
                f"{str(folder)!r} overlaps {other}, the folder of another bucket; choose a folder "
                "beside it"
            )
    return ""


def _check(index: int, table: Mapping[str, object]) -> Iterator[Violation]:
    field = f"buckets[{index}]"
    for key in table.keys() - set(_KEYS):
        yield Violation(f"{field}.{key}", f"no such key; {nearest(key, _KEYS, 'keys')}")
    yield from _check_name(f"{field}.name", table.get("name"))
    target = table.get("target")
    remote = isinstance(target, str) and _REMOTE.fullmatch(target)
    if not isinstance(target, str) or not (remote or target.startswith(("/", "~/"))):
        given = "required" if target is None else f"{target!r} given"
        yield Violation(f"{field}.target", f"{given}; allowed: {_TARGETS}")
    endpoint = table.get("endpoint")
    if endpoint is not None and not remote:
        text = f"{endpoint!r} given; allowed only with a target that begins with s3:// or gs://"
        yield Violation(f"{field}.endpoint", text)
    elif endpoint is not None and not _is_endpoint(endpoint):
        text = f"{endpoint!r} given; allowed: a URL such as https://minio.example:9000"
        yield Violation(f"{field}.endpoint", text)
    if not isinstance(table.get("read_only", False), bool):
        text = f"{table['read_only']!r} given; allowed: true, false"
        yield Violation(f"{field}.read_only", text)
    project = table.get("project", "all")
    if not isinstance(project, str) or not project:
        yield Violation(f"{field}.project", f"{project!r} given; allowed: the id of a project")


def _is_endpoint(value: object) -> bool:
    return isinstance(value, str) and _ENDPOINT.fullmatch(value) is not None


def _check_name(field: str, name: object) -> Iterator[Violation]:
    if not isinstance(name, str):
        given = "required" if name is None else f"{name!r} given"
        yield Violation(field, f"{given}; allowed: a bucket's name")
        return
    try:
        check_bucket_name(name)
    except InvalidArgument as error:
        yield Violation(field, error.message)
