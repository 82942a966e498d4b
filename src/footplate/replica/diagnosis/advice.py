"""Which kind of failure a message tells of, and what is said about that."""

from __future__ import annotations

from footplate.replica.diagnosis.files import advise_on_files
from footplate.replica.diagnosis.imports import advise_on_imports
from footplate.replica.diagnosis.keras import advise_on_keras
from footplate.replica.diagnosis.memory import advise_on_memory
from footplate.replica.diagnosis.versions import advise_on_versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.facts import Facts

_LONGEST = 1000
_KINDS = (
    *(advise_on_memory, advise_on_keras, advise_on_versions),
    *(advise_on_imports, advise_on_files),
)


def advise(cause: str, facts: Facts) -> str:
    """What is behind ``cause`` and the way out, in a sentence or two; empty: nothing is known."""
    for kind in _KINDS:
        advice = kind(cause, facts)
        if advice:
            return advice if len(advice) <= _LONGEST else f"{advice[: _LONGEST - 3]}..."
    return ""
