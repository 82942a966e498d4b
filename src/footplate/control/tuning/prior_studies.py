"""Loads the earlier studies that a search learns from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from footplate.domain.errors import NotFound
from footplate.domain.jobs import Job
from footplate.domain.names import (
    JobName,
    StudyName,
    StudyUid,
    TuningJobName,
    parse_job_name,
    parse_study_name,
)
from footplate.domain.studies.study import Study
from footplate.domain.studies.study_history import study_of
from footplate.domain.tuning.search import Search
from footplate.ports.store import Store
from footplate.ports.studies import StudyStore, StudyWithTrials


class PriorStudies:
    def __init__(self, store: Store, studies: StudyStore) -> None:
        self._store = store
        self._studies = studies

    def of(self, search: Search) -> tuple[Study, ...]:
        """Returns the studies that a search learns from, oldest first, without deleted ones."""
        found: list[Study] = []
        for name in (search.learns_from, search.resumes):
            if name:
                found += self.chain(name)
        return tuple(found)

    def last_number(self, resumes: str, learns_from: str, directory: str) -> int:
        """Returns the number of the last trial before a search's first; 0: it begins with 1.

        A search that resumes another one continues its numbers, as one study would. It also skips
        the numbers of every search that writes to the same ``directory`` (empty: there is none); so
        does a search that learns from a job, if that job writes there. Otherwise a program would
        find the files of another trial in its directory, and take them for its own.
        """
        beside = self._store.writing_to(directory) if directory and (resumes or learns_from) else ()
        if not resumes and learns_from not in {str(job.name) for job in beside}:
            return 0
        jobs = [job for job in beside if job.spec.search is not None]
        with suppress(NotFound):
            jobs.append(self._store.get(parse_job_name(resumes or learns_from)))
        return max((self._taken(job) for job in jobs), default=0)

    def _taken(self, job: Job) -> int:
        """Returns the last number that a trial of the job has, or may still get."""
        try:
            kept = self._studies.load(StudyUid(job.uid))
        except NotFound:
            return 0
        made, search = kept.study.made, job.spec.search
        if job.state.terminal or search is None:
            return made
        return made + max(0, search.counts.trials - len(kept.trials))

    def find(self, name: str) -> StudyWithTrials:
        """Returns the study of this name, or that of the tuning job of this name. Raises NotFound.

        A request on Vertex AI gives only an id, which may be a job's or a study's: no two of them
        are the same.
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
        """Returns the study, after the earlier ones that it learned from; empty: it is gone."""
        try:
            kept = self.find(name)
        except NotFound:
            return []
        whole = study_of(kept.study, kept.trials)
        return [*whole.earlier, replace(whole, trials=whole.finished, earlier=())]
