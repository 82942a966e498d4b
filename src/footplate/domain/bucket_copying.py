"""The rules for copies of buckets: which files are fetched and written back. Pure.

Nodes of engines run it, too: on Python 3.8, with nothing but the standard library.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False  # nodes go without what typing has behind it
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MAX_SEGMENT_BYTES = 255
MAX_NAMED = 5


class Known(NamedTuple):
    """The last known state in which a file and its object were the same."""

    identity: str
    generation: int


def is_wanted(known: Known | None, identity: str | None, generation: int) -> bool:
    """Returns whether to fetch an object. ``identity`` is the local file's; None: no file exists.

    Files that the program has made, changed or deleted stay as they are.
    """
    if known is None:
        return identity is None
    return known.generation != generation and known.identity == identity


def is_changed(known: Known | None, identity: str) -> bool:
    """Returns whether a file must be written to the bucket."""
    return known is None or known.identity != identity


def find_gone(known: Mapping[str, Known], there: Collection[str]) -> list[str]:
    """Returns the objects whose files are gone.

    The caller deletes these objects unless somebody has replaced them.
    """
    return [name for name in known if name not in there]


def find_problem(part: str) -> str:
    """Returns why no file name can be this part of an object's name; empty: the part is allowed."""
    if not part:
        return (
            "a file's name can't be empty: the object's name begins with a slash, or has two "
            "together"
        )
    if part in (".", ".."):
        return f"a file can't have the name {part!r}"
    if "\x00" in part:
        return "a file's name can't have the character U+0000"
    if len(part.encode()) > MAX_SEGMENT_BYTES:
        return f"a file's name between slashes can have at most {MAX_SEGMENT_BYTES} bytes"
    return ""


def describe_fetched(
    bucket: str,
    source: str,
    prefixes: Sequence[str],
    objects: int,
    size_bytes: int,
    skipped: Sequence[str],
) -> str:
    named = ", ".join(f"gs://{bucket}/{prefix}" for prefix in prefixes[:MAX_NAMED])
    sentence = (
        f"copied {count(objects, 'object')} ({size_bytes} bytes) of {source} to /gcs/{bucket}: "
        f"the files that the job names ({named}). Programs see no other files of the bucket"
    )
    if skipped:
        sentence += (
            f". {len(skipped)} objects have names that no file can have, such as {skipped[0]!r}"
        )
    return sentence


def describe_saved(bucket: str, target: str, objects: int, size_bytes: int) -> str:
    """Describes the objects that were written to a bucket; empty: none were."""
    if not objects:
        return ""
    return f"copied {count(objects, 'object')} ({size_bytes} bytes) of /gcs/{bucket} to {target}"


def describe_unsaved(
    bucket: str, target: str, reason: str, folder: str, names: Sequence[str]
) -> str:
    named = ", ".join(names[:MAX_NAMED]) + (", ..." if len(names) > MAX_NAMED else "")
    return (
        f"the service can't write {count(len(names), 'file')} of /gcs/{bucket} to {target}: "
        f"{reason}. "
        f"The files are in the folder {folder}: {named}"
    )


def count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
