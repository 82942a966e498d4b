"""The one way to change a Vizier study: load, decide, write guarded by the version."""

from __future__ import annotations

from collections.abc import Callable

from footplate.control.job_updates import TRIES
from footplate.domain.errors import Aborted
from footplate.domain.names import StudyName
from footplate.domain.studies.transitions import Change
from footplate.ports.studies import StudyStore, StudyWithTrials


def change(
    store: StudyStore, name: StudyName, decide: Callable[[StudyWithTrials], Change | None]
) -> Change | None:
    """Writes the change that ``decide`` returns, and returns it; None if nothing had to change.

    Raises:
        NotFound: the study doesn't exist.
        Aborted: others kept writing; nothing was changed.
    """
    for _ in range(TRIES):
        decided = decide(store.find(name))
        if decided is None:
            return None
        try:
            store.write(decided.study, decided.trials, dropped=decided.dropped)
        except Aborted:
            continue
        return decided
    raise Aborted(f"other requests keep changing {name}; try again")
