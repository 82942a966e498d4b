"""What a search learns from: earlier studies, as they are when it begins."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.domain.errors import NotFound
from footplate.domain.names import (
    StudyName,
    StudyUid,
    TuningJobName,
    parse_job_name,
    parse_study_name,
)
from footplate.domain.studies.histories import study_of

if TYPE_CHECKING:
    from footplate.domain.names import JobName
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
                found += self.chain(name)
        return tuple(found)

    def find(self, name: str) -> KeptStudy:
        """The study of this name, or of the tuning job of this name. Raises NotFound.

        A request on Vertex AI gives an id alone, which may be a job's or a study's: no two of
        them are the same.
        """
        try:
            return self._studies.find(parse_study_name(name))
        except NotFound:
            return self._of_job(parse_job_name(name))

    def _of_job(self, name: JobName) -> KeptStudy:
        try:
            return self._studies.load(StudyUid(self._store.get(name).uid))
        except NotFound:
            if not isinstance(name, TuningJobName):
                raise
            return self._studies.find(StudyName(name.project, name.location, name.job_id))

    def chain(self, name: str) -> list[Study]:
        """The study, with what it had learned from itself before it; gone: none."""
        try:
            kept = self.find(name)
        except NotFound:
            return []
        whole = study_of(kept.study, kept.trials)
        return [*whole.earlier, replace(whole, trials=whole.finished, earlier=())]
