"""Reports what a program wrote to ``./gs:``, which Google's services lose with their machine.

What opens files takes ``gs://BUCKET/PATH`` for a relative path: ``os.makedirs`` makes it.
"""

from __future__ import annotations

import os
import stat
import time

from footplate.safe_path import scan

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator

    from footplate.replica.context import Context

FOLDER = "gs:"
KEPT_S = 3600
_MOST_ENTRIES = 1000
_MOST_NAMES = 5
_LONGEST_NAME = 200


class LostFiles:
    """The files that a program has lost. ``names`` holds the first few of ``count``; with ``cut``
    there may be more than were counted.
    """

    __slots__ = ("count", "cut", "names", "size_bytes")

    def __init__(self) -> None:
        self.count = 0
        self.size_bytes = 0
        self.names: list[str] = []
        self.cut = False

    def __str__(self) -> str:
        files = "1 file" if self.count == 1 else f"{self.count} files"
        more = ", ..." if self.count > len(self.names) or self.cut else ""
        least = "at least " if self.cut else ""
        return f"{least}{files} ({self.size_bytes} bytes): {', '.join(self.names)}{more}"


def report(context: Context, *, succeeded: bool) -> None:
    """Writes an event about the files; keeps those of a program that ``succeeded``."""
    found = find_lost(context.workdir)
    if not found.count:
        return
    kept = f". {_keep(context)}" if succeeded else ""
    context.journal.event(
        "LOST_FILES",
        (
            f"the program wrote {found} to ./gs: in its working directory, not to a bucket. "
            f"{WAYS_OUT}{kept}"
        ),
    )


WAYS_OUT = (
    "Functions that open files take no gs:// address, here and in the cloud. Use "
    "/gcs/BUCKET/PATH, which works on Vertex AI, too, or a client of Cloud Storage. The job's "
    "label footplate-directories=paths makes --job-dir and AIP_... variables paths"
)


def find_lost(workdir: str) -> LostFiles:
    """Returns the files found in a limited part of the folder. No link is followed, wherever it is
    in a path.
    """
    found, left = LostFiles(), _MOST_ENTRIES
    folders = [FOLDER]
    for folder in folders:  # which grows meanwhile
        for name, status in _read_directory(os.path.join(workdir, folder)):
            if not left:
                found.cut = True
                return found
            left -= 1
            path = os.path.join(folder, name)
            if stat.S_ISDIR(status.st_mode):
                folders.append(path)
            elif stat.S_ISREG(status.st_mode):
                _add(found, path, status.st_size)
    return found


def _read_directory(path: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        for entry in scan(path):
            yield entry.name, entry.stat(follow_symlinks=False)
    except OSError:  # a program may have put anything there: what can't be read isn't reported
        return


def _add(found: LostFiles, path: str, size_bytes: int) -> None:
    found.count += 1
    found.size_bytes += size_bytes
    if len(found.names) < _MOST_NAMES:
        text = os.fsencode(path).decode("utf-8", "replace")
        short = text if len(text) <= _LONGEST_NAME else f"...{text[-_LONGEST_NAME:]}"
        found.names.append(f"{short} ({size_bytes} bytes)")


def _keep(context: Context) -> str:
    """Moves the folder beside the job; returns a phrase on the result.

    The backend deletes the folder by the time at which the folder around it was changed: now.
    """
    top, task = context.ticket.kept, context.task
    if not top:
        return "The files are gone with their machine"
    place = os.path.join(top, f"{task.attempt_id}.{task.replica}")
    try:
        os.makedirs(place, 0o700, exist_ok=True)
        os.rename(os.path.join(context.workdir, FOLDER), os.path.join(place, FOLDER))
    except OSError as error:
        return f"The files could not be kept: {error.strerror}"
    until = time.strftime("%Y-%m-%d %H:%M", time.gmtime(time.time() + KEPT_S))
    return f"The files are kept until {until} UTC in {place}"
