"""Advice about buckets that this service doesn't have, such as public ones of samples."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_NAME = r"([a-z0-9][a-z0-9._-]{1,220}[a-z0-9])"
_SAID = re.compile(rf"there is no bucket \\?['\"]{_NAME}\\?['\"] here")
"""The service's own answer, as the storage client and TensorFlow show it."""
_NAMED = re.compile(rf"(?:gs:/{{1,2}}|/gcs/|\bb/){_NAME}")
"""An address, a path, and an address of the JSON API."""
_OF_GCSFS = re.compile(rf"FileNotFoundError: {_NAME}/\S")
"""It leaves the scheme out, so that any relative path looks like it."""
_ABSENT = re.compile(
    r"\b404\b|not ?found|no such (?:file|bucket|object)|does not exist|doesn't exist", re.IGNORECASE
)


def advise_on_buckets(cause: str, facts: ReplicaFacts) -> str:
    said = _SAID.search(cause)
    name = said.group(1) if said is not None else _find_absent(cause, facts)
    if not name:
        return ""
    return (
        f"There is no bucket {name!r} here, and programs don't reach Google's buckets. Create it "
        f"with `footplate storage buckets create gs://{name}`, and copy what the program reads "
        f"into it. Add `--bind gs://{name}` to use the bucket of this name in the cloud"
    )


def _find_absent(cause: str, facts: ReplicaFacts) -> str:
    """Finds the bucket that a message names and that isn't among the program's; '' if none.

    Only where the supervisor sees the folders of buckets: there a missing one is no bucket.
    """
    if _ABSENT.search(cause) is None or not os.path.isdir(facts.real_path("/gcs")):
        return ""
    names = [found.group(1) for found in _NAMED.finditer(cause)]
    bare = _OF_GCSFS.search(cause)
    if bare is not None and any(f"gs://{bare.group(1)}" in text for text in facts.texts):
        names.append(bare.group(1))
    return next((name for name in names if not os.path.isdir(facts.real_path(f"/gcs/{name}"))), "")
