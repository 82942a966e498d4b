"""Loads the earlier studies that a search learns from."""

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
from footplate.domain.studies.study_history import study_of

if TYPE_CHECKING:
    from footplate.domain.names import JobName
    from footplate.domain.studies.study import Study
    from footplate.domain.tuning.search import Search
    from footplate.ports.store import Store
    from footplate.ports.studies import StudyStore, StudyWithTrials


class PriorStudies:
    def __init__(self, store: Store, studies: StudyStore) -> None:
        self._store = store
        self._studies = studies

    def of(self, search: Search) -> tuple[Study, ...]:
        """Oldest first. Deleted studies are left out."""
        found: list[Study] = []
        for name in (search.learns_from, search.resumes):
            if name:
                found += self.chain(name)
        return tuple(found)

    def find(self, name: str) -> StudyWithTrials:
        """The study of this name, or of the tuning job of this name. Raises NotFound.

        A request on Vertex AI gives an id alone, which may be a job's or a study's: no two of
        them are the same.
        """
        try:
            return self._studies.find(parse_study_name(name))
        except NotFound:
            return self._of_job(parse_job_name(name))

    def _of_job(self, name: JobName) -> StudyWithTrials:
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
