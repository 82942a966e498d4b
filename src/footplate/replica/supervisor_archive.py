"""Builds the supervisor as one zip file that any Python >= 3.8 can run."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import marshal
import os
import zipfile
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable
    from pathlib import Path

_MAIN = b"""\
import sys
from footplate.replica.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
_TIME = (1980, 1, 1, 0, 0, 0)
_UNCHECKED_HASH = (0b01).to_bytes(4, "little") + bytes(8)
_LEFT_OUT = frozenset({"supervisor_archive.py"})
_SHARED = (
    *("domain/__init__.py", "domain/bucket_copying.py", "domain/google_products.py"),
    "domain/image_reference.py",
    *("http1.py", "limited_http.py", "safe_path.py"),
)
"""What supervisors and the server decide by the same rules."""


def build_archive(destination: Path) -> Path:
    """Builds the supervisor's archive in the directory ``destination`` unless it exists; returns
    its path.

    The name depends on the sources and the interpreter, so that a new version never changes a file
    that a running supervisor has open. Beside the sources lie modules compiled for this
    interpreter, which other interpreters ignore.
    """
    files = sorted(_collect())
    path = destination / f"supervisor-{_digest(files)[:20]}.pyz"
    if not path.exists():
        content = _pack(files)
        destination.mkdir(parents=True, exist_ok=True, mode=0o700)  # what is run lies there
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(content)
        part.replace(path)
    return path


def _collect() -> Iterator[tuple[str, bytes]]:
    """Yields name in the archive and content of each file."""
    yield "__main__.py", _MAIN
    package = resources.files("footplate")
    yield "footplate/__init__.py", (package / "__init__.py").read_bytes()
    for tree in ("containers", "protocol", "replica"):
        yield from _collect_tree(package / tree, f"footplate/{tree}")
    for name in _SHARED:
        yield f"footplate/{name}", (package / name).read_bytes()


def _collect_tree(directory: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in directory.iterdir():
        path = f"{name}/{entry.name}"
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _collect_tree(entry, path)
        elif entry.name.endswith(".py") and entry.name not in _LEFT_OUT:
            yield path, entry.read_bytes()


def _digest(files: list[tuple[str, bytes]]) -> str:
    """Returns a digest of the sources, of the interpreter, and of this module, which packs them."""
    packer = resources.files("footplate") / "replica" / "supervisor_archive.py"
    found = hashlib.sha256(importlib.util.MAGIC_NUMBER + packer.read_bytes())
    for name, source in files:
        found.update(f"{name}\0{len(source)}\0".encode() + source)
    return found.hexdigest()


def _pack(files: list[tuple[str, bytes]]) -> bytes:
    """Returns the archive; the same bytes for the same files, at any time and place."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, source in files:
            archive.writestr(zipfile.ZipInfo(name, _TIME), source)
            archive.writestr(zipfile.ZipInfo(f"{name}c", _TIME), _compile(name, source))
    return buffer.getvalue()


def _compile(name: str, source: bytes) -> bytes:
    """Returns a .pyc that isn't checked against the source beside it (PEP 552)."""
    code = compile(source, f"supervisor/{name}", "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH + marshal.dumps(code)
