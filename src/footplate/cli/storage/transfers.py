"""Plans a copy: which file goes to which object, or the reverse."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from footplate.cli.storage.matching import matching
from footplate.domain.errors import InvalidArgument
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.client.storage import Storage

Place = GcsUri | Path


@dataclass(frozen=True)
class Transfer:
    source: Place
    target: Place


def place(text: str) -> Place:
    """A file of this machine, or an object. Raises InvalidArgument."""
    return GcsUri.parse(text, "url") if "://" in text else Path(text).expanduser()


def plan(
    storage: Storage, sources: Sequence[Place], target: str, *, recursive: bool
) -> list[Transfer]:
    """As gcloud: into a folder if the target is one, ends with a slash, or several come.

    Raises:
        InvalidArgument: a source isn't there, or is a folder, and ``recursive`` is False.
        Failure: no objects match.
    """
    pairs = [pair for one in sources for pair in _files(storage, one, recursive=recursive)]
    to = place(target)
    within = len(pairs) > 1 or recursive or target.endswith("/") or _is_folder(to)
    return [Transfer(source, _below(to, name) if within else to) for source, name in pairs]


def _files(storage: Storage, source: Place, *, recursive: bool) -> Iterator[tuple[Place, str]]:
    """Each with its name below the target."""
    if isinstance(source, GcsUri):
        parent = PurePosixPath(source.path.rstrip("/")).parent
        for stored in matching(storage, source, recursive=recursive):
            path = PurePosixPath(stored.name)
            inside = recursive and path.is_relative_to(parent)
            yield stored.place, str(path.relative_to(parent)) if inside else path.name
    elif source.is_dir():
        if not recursive:
            raise InvalidArgument(f"{source} is a folder; --recursive copies what is in it")
        root = source.resolve()
        for file in sorted(root.rglob("*")):
            if file.is_file():
                yield file, file.relative_to(root.parent).as_posix()
    elif source.is_file():
        yield source, source.name
    else:
        raise InvalidArgument(f"{source}: there is no such file")


def _is_folder(target: Place) -> bool:
    if isinstance(target, Path):
        return target.is_dir()
    return not target.path


def _below(target: Place, name: str) -> Place:
    """Raises InvalidArgument: the name of an object would lead out of the folder."""
    if isinstance(target, Path):
        if ".." in PurePosixPath(name).parts or name.startswith("/"):
            raise InvalidArgument(f"the object {name!r} can't be a file below {target}")
        return target / name
    return GcsUri(target.bucket, f"{target.path.rstrip('/')}/{name}".lstrip("/"))
