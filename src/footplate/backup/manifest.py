"""The list of a backup's content: a line of JSON for each file, folder and link of the data.

The backup's own files belong to the user who made it, and nobody else may read them. Owners,
rights, times and links are here, so that the backup can be copied by any program, to any disk.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from footplate.domain.errors import DataLoss

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

NAME = "manifest.jsonl"
DATA = "data"
"""The folder beside it that has the files."""
_FORMAT = 1


class Kind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


@dataclass(frozen=True)
class Entry:
    """A file, folder or link of the data.

    ``version`` identifies the state of the original; ``digest`` is of a file's content.
    ``attributes`` are access lists and other attributes of the file system, in hexadecimal digits.
    """

    path: str
    kind: Kind
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    version: str
    size_bytes: int = 0
    digest: str = ""
    target: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


def write_manifest(folder: Path, entries: Iterable[Entry]) -> None:
    """Writes the entries, and a last line that proves that the list is complete."""
    count = 0
    with (folder / NAME).open("w", encoding="utf-8") as file:
        for count, entry in enumerate(entries, 1):  # noqa: B007 - the last one is the count
            file.write(json.dumps(asdict(entry)) + "\n")
        file.write(json.dumps({"format": _FORMAT, "entries": count}) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_manifest(folder: Path) -> dict[str, Entry]:
    """Reads the entries. Raises DataLoss: the list is damaged, or of a newer version."""
    path = folder / NAME
    try:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        end = lines.pop()
        entries = [Entry(**{**line, "kind": Kind(line["kind"])}) for line in lines]
    except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
        raise DataLoss(f"the backup's list of files {path} is damaged: {error}") from error
    if end != {"format": _FORMAT, "entries": len(entries)}:
        raise DataLoss(
            f"the backup's list of files {path} is incomplete, or a newer version of "
            "Footplate wrote it"
        )
    folders = {"", *(entry.path for entry in entries if entry.kind is Kind.FOLDER)}
    for entry in entries:
        above, _, name = entry.path.rpartition("/")
        if above not in folders or name in ("", ".", ".."):  # nor does a link lead out of it
            raise DataLoss(f"the backup's list of files {path} is damaged: {entry.path!r}")
    return {entry.path: entry for entry in entries}
