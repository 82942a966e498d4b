"""Detects the format of a package archive from its content.

Users rename their archives, and save sdists under suffixes that aren't theirs: pip believes the
content of a tar, and so does this. ``footplate.domain.package_formats`` knows the same beginnings,
for refusals at submit; the supervisor can't import it, as it is a file of its own.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import zipfile

from footplate.replica.environment.archive_inspection import MAX_UNPACKED_BYTES, SUFFIXES
from footplate.replica.environment.errors import PreparationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

SAY_EGG = (
    "is an egg, which pip doesn't install; send a source distribution "
    "(python setup.py sdist) or a wheel"
)
_CHUNK_BYTES = 1 << 20
_USTAR_OFFSET = 257
_WHEEL_FILE = re.compile(r"([A-Za-z0-9_.]+)-([A-Za-z0-9_.!+]+)\.dist-info/WHEEL")
_TAG = re.compile(r"^Tag:\s*([A-Za-z0-9_.]+-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+)\s*$", re.MULTILINE)
_MAX_WHEEL_FILE_BYTES = 1 << 16


def settle(download: str, name: str) -> str:
    """Moves or converts the file ``download``, known to the user as ``name``; returns its path.

    The path's suffix says what it is: .tar.gz, .zip or .whl. Beside those pip takes .tar,
    .tar.bz2 and .tar.xz, which are converted. A file of no known kind whose name has a known
    suffix keeps it: its inspection says what is wrong with it.

    Raises:
        PreparationError: pip doesn't install such a package.
    """
    with open(download, "rb") as file:
        head = file.read(512)
    directory = os.path.dirname(download)
    if head.startswith((b"BZh", b"\xfd7zXZ\0")) or _is_tar(head):
        return _convert(download, os.path.join(directory, "package.tar.gz"), name, head)
    path = os.path.join(directory, _file_name(download, name, head))
    os.replace(download, path)
    return path


def _is_tar(head: bytes) -> bool:
    return head[_USTAR_OFFSET : _USTAR_OFFSET + 5] == b"ustar"


def _file_name(path: str, name: str, head: bytes) -> str:
    """Returns a file name that says only the kind of archive: uv would refuse a name that isn't the
    package's own.
    """
    if head.startswith(b"\x1f\x8b"):
        return "package.tar.gz"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_name(path, name)
    suffix = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")
    if not suffix:
        raise PreparationError(
            f"{name} is not a package that can be installed; allowed: "
            f"{', '.join(SUFFIXES)}, .tar, .tar.bz2, .tar.xz"
        )
    return name if suffix == ".whl" else f"package{suffix}"


def _zip_name(path: str, name: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
            if any(member.startswith("EGG-INFO/") for member in members):
                raise PreparationError(f"{name} {SAY_EGG}")
            found = next(filter(None, map(_WHEEL_FILE.fullmatch, members)), None)
            if found is None:
                return "package.zip"
            if name.endswith(".whl"):
                return name
            with archive.open(found[0]) as file:
                text = file.read(_MAX_WHEEL_FILE_BYTES).decode("utf-8", "replace")
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
        return "package.zip"  # its inspection says that it is broken
    tag = _TAG.search(text)
    return f"{found[1]}-{found[2]}-{tag[1] if tag else 'py3-none-any'}.whl"


def _convert(download: str, path: str, name: str, head: bytes) -> str:
    """Converts an archive to gzip, because builds take no other compression. The bytes that come
    out of the compression are counted, and limited.
    """
    left = MAX_UNPACKED_BYTES
    try:
        with _open(download, head) as source, gzip.open(path, "wb", compresslevel=1) as target:
            while chunk := source.read(_CHUNK_BYTES):
                left -= len(chunk)
                if left < 0:
                    limit = f"{MAX_UNPACKED_BYTES >> 20} MiB"
                    raise PreparationError(f"{name} is larger than {limit} when unpacked")
                target.write(chunk)
    except (OSError, EOFError, lzma.LZMAError, ValueError) as error:
        raise PreparationError(f"{name} is broken: {error}") from error
    os.remove(download)
    return path


def _open(path: str, head: bytes) -> IO[bytes]:
    if head.startswith(b"BZh"):
        return bz2.open(path, "rb")
    if head.startswith(b"\xfd"):
        return lzma.open(path, "rb")
    return open(path, "rb")
