"""Recognises package files by their name and first bytes, and names of modules. Pure."""

from __future__ import annotations

import re

SUFFIXES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip", ".whl")
HEAD_BYTES = 512
_MAGIC = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04", b"PK\x05\x06")
_USTAR = slice(257, 262)
_MODULE_PART = re.compile(r"\w[\w-]*")


def refusal(name: str, head: bytes | None = None) -> str | None:
    """Returns why pip can't install the file ``name`` that begins with ``head``; None: it may.

    The content decides if the suffix is wrong or missing. A file with a package's suffix and other
    content is accepted here, and fails when it is unpacked. ``head`` is None if the content isn't
    available yet.
    """
    if name.endswith(".egg"):
        return (
            "is an egg, which pip doesn't install; allowed: a source distribution "
            "(python setup.py sdist) or a wheel"
        )
    if (
        head is None
        or name.endswith(SUFFIXES)
        or head.startswith(_MAGIC)
        or head[_USTAR] == b"ustar"
    ):
        return None
    return f"is not a package that pip can install; allowed: {', '.join(SUFFIXES)}"


def is_module(name: str) -> bool:
    """Returns whether ``python -m NAME`` may find a module.

    A part needn't be an identifier: the loader looks for files, and so finds ``my-trainer.task``.
    """
    return all(map(_MODULE_PART.fullmatch, name.split(".")))
