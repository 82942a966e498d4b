"""Objects that a URL matches, and the copies of files to and from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from footplate.cli.group import Failure
from footplate.domain.errors import InvalidArgument
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.client.records import StoredObject
    from footplate.client.storage import Level, Storage

_WILD = re.compile(r"[*?\[]")
_TOKENS = re.compile(r"\*\*|\*|\?|\[[^\]]+\]")


def is_pattern(path: str) -> bool:
    return _WILD.search(path) is not None


def matching(storage: Storage, uri: GcsUri, *, recursive: bool) -> list[StoredObject]:
    """Returns the matching objects; those below a folder only if ``recursive``.

    With ``recursive``, a pattern may match a folder too.

    Raises:
        Failure: no objects match.
    """
    found = [*_below(storage, uri)] if recursive else [*_exact(storage, uri)]
    if not found:
        hint = "" if recursive else "; --recursive includes all objects below a folder"
        raise Failure(f"no objects match {uri}{hint}")
    return found


def _exact(storage: Storage, uri: GcsUri) -> Iterator[StoredObject]:
    names = expression(uri.path)
    return (o for o in storage.objects(_literal(uri)) if names.fullmatch(o.name))


def _below(storage: Storage, uri: GcsUri) -> Iterator[StoredObject]:
    names = re.compile(f"(?:{expression(uri.path.rstrip('/')).pattern})(?:/.*)?", re.DOTALL)
    everything = not uri.path
    objects = storage.objects(_literal(GcsUri(uri.bucket, uri.path.rstrip("/"))))
    return (o for o in objects if everything or names.fullmatch(o.name))


def level(storage: Storage, uri: GcsUri) -> Level | None:
    """Returns the content of a folder; None if it doesn't exist."""
    prefix = f"{uri.path.rstrip('/')}/" if uri.path else ""
    found = storage.level(uri.bucket, prefix)
    return found if found.prefixes or found.objects or not prefix else None


def expression(path: str) -> re.Pattern[str]:
    """Returns a pattern for gcloud's wildcards; only ``**`` matches across folders."""
    parts: list[str] = []
    end = 0
    for found in _TOKENS.finditer(path):
        parts += [re.escape(path[end : found.start()]), _token(found[0])]
        end = found.end()
    return re.compile("".join([*parts, re.escape(path[end:])]), re.DOTALL)


def _token(text: str) -> str:
    known = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    if text in known:
        return known[text]
    inner = text[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    return f"[^{inner[1:]}]" if inner.startswith("!") and len(inner) > 1 else f"[{inner}]"


def _literal(uri: GcsUri) -> GcsUri:
    """Returns the URI up to the first wildcard, the part by which the service can list."""
    return GcsUri(uri.bucket, _WILD.split(uri.path, maxsplit=1)[0])


def parse_urls(texts: Sequence[str], field: str = "url") -> list[GcsUri]:
    """Returns the parsed URLs. Raises InvalidArgument."""
    return [GcsUri.parse(text, field) for text in texts]


Place = GcsUri | Path


@dataclass(frozen=True)
class Transfer:
    source: Place
    target: Place


def place(text: str) -> Place:
    """Returns a file of this machine, or an object. Raises InvalidArgument."""
    return GcsUri.parse(text, "url") if "://" in text else Path(text).expanduser()


def plan(
    storage: Storage, sources: Sequence[Place], target: str, *, recursive: bool
) -> list[Transfer]:
    """Plans copies as gcloud does: into a folder if the target is one or must be.

    It must be one if it ends with a slash, or if there are several files.

    Raises:
        InvalidArgument: a source doesn't exist, or is a folder, and ``recursive`` is False.
        Failure: no objects match.
    """
    pairs = [pair for one in sources for pair in _files(storage, one, recursive=recursive)]
    to = place(target)
    within = len(pairs) > 1 or recursive or target.endswith("/") or _is_folder(to)
    return [Transfer(source, _target_below(to, name) if within else to) for source, name in pairs]


def _files(storage: Storage, source: Place, *, recursive: bool) -> Iterator[tuple[Place, str]]:
    """Yields each file with its name below the target."""
    if isinstance(source, GcsUri):
        parent = PurePosixPath(source.path.rstrip("/")).parent
        for stored in matching(storage, source, recursive=recursive):
            path = PurePosixPath(stored.name)
            inside = recursive and path.is_relative_to(parent)
            yield stored.place, str(path.relative_to(parent)) if inside else path.name
    elif source.is_dir():
        if not recursive:
            raise InvalidArgument(
                f"{source} is a folder; --recursive copies a folder with its files"
            )
        root = source.resolve()
        for file in sorted(root.rglob("*")):
            if file.is_file():
                yield file, file.relative_to(root.parent).as_posix()
    elif source.is_file():
        yield source, source.name
    else:
        raise InvalidArgument(f"{source} does not exist")


def _is_folder(target: Place) -> bool:
    if isinstance(target, Path):
        return target.is_dir()
    return not target.path


def _target_below(target: Place, name: str) -> Place:
    """Returns the path of ``name`` below the target.

    Raises InvalidArgument if an object's name would lead out of the folder.
    """
    if isinstance(target, Path):
        if ".." in PurePosixPath(name).parts or name.startswith("/"):
            raise InvalidArgument(f"the object {name!r} can't be a file below {target}")
        return target / name
    return GcsUri(target.bucket, f"{target.path.rstrip('/')}/{name}".lstrip("/"))
