"""Checks that the module to run is in its package."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument
from footplate.domain.formatting import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.cli.packaging.archive import Archive


def check_module(
    module: str, archive: Archive, *, own_build: bool, field: str = "--module-name"
) -> None:
    """``own_build``: it is the user's own, and may lay out packages otherwise than files lie.

    Raises InvalidArgument, naming ``field``: the package has no such module.
    """
    known = frozenset(_modules(archive))
    packages = {name.partition(".")[0] for name in known}
    if module in known or (own_build and module.partition(".")[0] not in packages):
        return
    way = nearest(module, known, "modules") if known else "it has no modules that can be run"
    raise InvalidArgument(f"{field}: {module!r} given, which {archive.name} lacks; {way}")


def _modules(archive: Archive) -> Iterator[str]:
    """Those that can be run, by where their files lie in the distribution."""
    for member in archive.members():
        path = PurePosixPath(*PurePosixPath(member).parts[1:])
        if path.suffix != ".py" or path.name in {"__init__.py", "setup.py"}:
            continue
        parts = path.parent.parts if path.name == "__main__.py" else path.with_suffix("").parts
        yield ".".join(parts[1:] if parts[:1] == ("src",) else parts)
