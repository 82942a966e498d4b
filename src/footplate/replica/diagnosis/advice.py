"""Chooses the advice for an error message."""

from __future__ import annotations

from footplate.replica.diagnosis.bucket_errors import advise_on_buckets
from footplate.replica.diagnosis.file_errors import advise_on_files
from footplate.replica.diagnosis.google_errors import advise_on_google
from footplate.replica.diagnosis.import_errors import advise_on_imports
from footplate.replica.diagnosis.keras_errors import advise_on_keras
from footplate.replica.diagnosis.machine_errors import advise_on_machine
from footplate.replica.diagnosis.memory_errors import advise_on_memory
from footplate.replica.diagnosis.version_errors import advise_on_versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_LONGEST = 1000
_KINDS = (
    *(advise_on_memory, advise_on_keras, advise_on_versions),
    *(advise_on_imports, advise_on_machine, advise_on_buckets, advise_on_files),
    advise_on_google,
)


def advise(cause: str, facts: ReplicaFacts) -> str:
    """Returns advice about ``cause`` in a sentence or two; '' if none is known."""
    cause = cause[:_LONGEST]
    for kind in _KINDS:
        advice = kind(cause, facts)
        if advice:
            return advice if len(advice) <= _LONGEST else f"{advice[: _LONGEST - 3]}..."
    return ""
