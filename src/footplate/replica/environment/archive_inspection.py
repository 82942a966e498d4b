"""Inspects a user's archive before it is unpacked or built.

It is read once, as a stream, and its content is counted while it comes out of the compression:
what the archive says of itself is not believed.
"""

from __future__ import annotations

import gzip
import lzma
import posixpath
import re
import stat
import tarfile
import zipfile
import zlib

from footplate.replica.environment.errors import PreparationError

TYPE_CHECKING = False  # typing and collections.abc aren't needed to run
if TYPE_CHECKING:
    from typing import IO, Callable, Self

    Reader = Callable[[str, IO[bytes]], None]

MAX_MEMBERS = 100_000
MAX_UNPACKED_BYTES = 4 << 30
MAX_NAME_LENGTH = 4096
SUFFIXES = (".tar.gz", ".tgz", ".zip", ".whl")

_CHUNK_BYTES = 1 << 20
_MAX_TAR_HEADER_BYTES = 1 << 20
_DRIVE = re.compile(r"[A-Za-z]:")
_LONG_HEADERS = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(OSError, EOFError, NotImplementedError, RuntimeError, ValueError),
)


def inspect(path: str, name: str, read: Reader) -> None:
    """Checks the archive ``path``, which the user knows as ``name``; shows its files to ``read``.

    The path's suffix says what kind of archive it is.

    Raises:
        PreparationError: naming the archive and the member that can't be accepted.
    """
    if not path.endswith(SUFFIXES):
        raise PreparationError(
            f"{name} is not a package that can be installed; allowed: {', '.join(SUFFIXES)}"
        )
    with open(path, "rb") as file:
        is_zip = path.endswith((".zip", ".whl"))
        inspect_open(file, name, read, is_zip=is_zip, limit_bytes=MAX_UNPACKED_BYTES)


def inspect_open(
    file: IO[bytes], name: str, read: Reader, *, is_zip: bool, limit_bytes: int
) -> None:
    """Does what ``inspect`` does, for a file in which one can go back.

    ``limit_bytes``: how much may come out of the compression.
    """
    inspection = _Inspection(name, read, limit_bytes)
    try:
        if is_zip:
            _inspect_zip(file, inspection)
        else:
            _inspect_tar(file, inspection)
    except _BROKEN as error:
        raise PreparationError(
            f"the package {name} is broken, or not an archive of its kind: {error}"
        ) from error
    inspection.check_links()


class _Inspection:
    """The findings on one archive so far."""

    def __init__(self, archive: str, read: Reader, limit_bytes: int) -> None:
        self._archive = archive
        self._limit_bytes = limit_bytes
        self._read = read
        self._bytes = 0
        self._names: list[str] = []
        self._links: dict[str, str] = {}

    def refuse(self, member: str, why: str) -> PreparationError:
        shown = repr(member if len(member) <= 100 else f"{member[:100]}...")
        return PreparationError(f"the package {self._archive} is refused: its member {shown} {why}")

    def see(self, name: str) -> None:
        """Records a member by its name."""
        if len(self._names) >= MAX_MEMBERS:
            raise PreparationError(
                f"the package {self._archive} is refused: it has more than {MAX_MEMBERS} members"
            )
        if len(name) > MAX_NAME_LENGTH:
            raise self.refuse(name, f"has a name of more than {MAX_NAME_LENGTH} characters")
        if "\0" in name:
            raise self.refuse(name, "has a NUL character in its name")
        if name.startswith(("/", "\\")) or _DRIVE.match(name):
            raise self.refuse(name, "has an absolute path; only relative ones are allowed")
        if ".." in re.split(r"[/\\]", name):
            raise self.refuse(name, "has '..' in its path and may lead outside of the archive")
        self._names.append(posixpath.normpath(name))

    def see_link(self, name: str, target: str, directory: str) -> None:
        """Records a link; ``target`` is relative to ``directory``."""
        if target.startswith(("/", "\\")) or _DRIVE.match(target) or "\0" in target:
            raise self.refuse(name, f"is a link to {target[:100]!r}, outside of the archive")
        self._links[posixpath.normpath(name)] = posixpath.join(directory, target)

    def see_content(self, name: str, stream: IO[bytes]) -> None:
        """Shows a file's content to the reader, then reads the rest of it."""
        self._read(name, stream)
        while stream.read(_CHUNK_BYTES):
            pass

    def count(self, member: str, size: int) -> None:
        """Counts bytes that have come out of the compression, against their limit."""
        self._bytes += size
        if self._bytes > self._limit_bytes:
            limit = f"{self._limit_bytes >> 20} MiB"
            raise self.refuse(member, f"makes the package larger than {limit} when unpacked")

    def check_links(self) -> None:
        """Refuses links that lead outside, also through others, and what lies beyond a link."""
        for name in self._names:
            for parent in _parents(name):
                if parent in self._links:
                    raise self.refuse(name, f"is in {parent!r}, which is a link")
        for name, target in self._links.items():
            self._follow(name, target)

    def _follow(self, name: str, target: str) -> None:
        steps: list[str] = []
        for part in target.split("/"):
            if "/".join(steps) in self._links:
                raise self.refuse(
                    name, f"is a link to {target!r}, which leads through another link"
                )
            if part == ".." and not steps:
                raise self.refuse(name, f"is a link to {target!r}, outside of the archive")
            if part == "..":
                steps.pop()
            elif part not in ("", "."):
                steps.append(part)


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]


class _Header(tarfile.TarInfo):
    """A header of a tar file. Long headers are read into memory whole, so their size is limited."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _LONG_HEADERS and header.size > _MAX_TAR_HEADER_BYTES:
            raise ValueError(f"a header of {header.size} bytes")
        return header


class _Counting(gzip.GzipFile):
    """A gzip file that tells the inspection how many bytes have come out of the compression."""

    def __init__(self, file: IO[bytes], inspection: _Inspection) -> None:
        super().__init__(fileobj=file, mode="rb")
        self._inspection = inspection
        self.member = ""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self._inspection.count(self.member, len(data))
        return data


def _inspect_tar(file: IO[bytes], inspection: _Inspection) -> None:
    with _Counting(file, inspection) as unpacked:
        with tarfile.open(fileobj=unpacked, mode="r|", tarinfo=_Header) as archive:
            for member in archive:
                unpacked.member = member.name
                _inspect_tar_member(archive, member, inspection)
        while unpacked.read(_CHUNK_BYTES):
            pass  # others unpack what lies behind the archive's end as well


def _inspect_tar_member(
    archive: tarfile.TarFile, member: tarfile.TarInfo, inspection: _Inspection
) -> None:
    inspection.see(member.name)
    if member.issparse():
        raise inspection.refuse(member.name, "is a sparse file")
    if member.issym():
        directory = posixpath.dirname(member.name)
        inspection.see_link(member.name, member.linkname, directory)
    elif member.islnk():
        inspection.see_link(member.name, member.linkname, "")
    elif not (member.isreg() or member.isdir()):
        raise inspection.refuse(member.name, "is a device or a pipe")
    stream = archive.extractfile(member) if member.isreg() else None
    if stream is not None:
        inspection.see_content(member.name, stream)


def _inspect_zip(file: IO[bytes], inspection: _Inspection) -> None:
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            inspection.see(member.orig_filename)
        for member in archive.infolist():
            _inspect_zip_member(archive, member, inspection)


def _inspect_zip_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, inspection: _Inspection
) -> None:
    name = member.filename
    kind = stat.S_IFMT(member.external_attr >> 16)
    if member.flag_bits & 1:
        raise inspection.refuse(name, "is encrypted")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        raise inspection.refuse(name, "is a device or a pipe")
    if member.is_dir():
        return
    inspection.count(name, member.file_size)
    with archive.open(member) as stream:
        if kind == stat.S_IFLNK:
            target = stream.read(MAX_NAME_LENGTH).decode("utf-8", "replace")
            inspection.see_link(name, target, posixpath.dirname(name))
        else:
            inspection.see_content(name, stream)
