"""What a search learns from: earlier studies, as they are when it begins."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.domain.errors import NotFound
from footplate.domain.names import StudyUid, parse_job_name, parse_study_name
from footplate.domain.studies.histories import study_of

if TYPE_CHECKING:
    from footplate.domain.searches.search import Search
    from footplate.domain.studies.study import Study
    from footplate.ports.store import Store
    from footplate.ports.studies import KeptStudy, StudyStore


class EarlierStudies:
    def __init__(self, store: Store, studies: StudyStore) -> None:
        self._store = store
        self._studies = studies

    def of(self, search: Search) -> tuple[Study, ...]:
        """Oldest first, each on its own. One that is gone by now tells nothing."""
        found: list[Study] = []
        for name in (search.learns_from, search.resumes):
            if name:
                found += self._chain(name)
        return tuple(found)

    def find(self, name: str) -> KeptStudy:
        """The study of this name, or of the tuning job of this name. Raises NotFound."""
        try:
            return self._studies.find(parse_study_name(name))
        except NotFound:
            job = self._store.get(parse_job_name(name))
            return self._studies.load(StudyUid(job.uid))

    def _chain(self, name: str) -> list[Study]:
        """With what it had learned from itself."""
        try:
            kept = self.find(name)
        except NotFound:
            return []
        whole = study_of(kept.study, kept.trials)
        return [*whole.earlier, replace(whole, trials=whole.finished, earlier=())]
