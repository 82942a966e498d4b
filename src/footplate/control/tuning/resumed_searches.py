"""Resolves a search request: what it resumes, and what it learns from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from footplate.control.tuning.prior_studies import PriorStudies
from footplate.domain.errors import NotFound, Violation
from footplate.domain.formatting import quoted
from footplate.domain.jobs import Job, JobSpec
from footplate.domain.names import JobName
from footplate.domain.output_directories import output_directory
from footplate.domain.submission import Tuning
from footplate.domain.tuning.resumption import AT, differences, search_of
from footplate.domain.tuning.search import Search, SearchRequest
from footplate.ports.store import Store
from footplate.ports.studies import StudyWithTrials

RESUMED = f"{AT}.resumePreviousJobId"
LEARNED = "labels.footplate-learn-from"


class SearchResolver:
    def __init__(self, store: Store, earlier: PriorStudies) -> None:
        self._store = store
        self._earlier = earlier

    def violations(self, request: SearchRequest) -> Iterator[Violation]:
        """Yields why the search cannot resume, or learn from, the jobs or studies that it names."""
        if request.resumes is not None:
            yield from self._check_resumed(request, request.resumes)
        if request.learns_from is not None:
            yield from self._check_learned(request)

    def search(self, request: SearchRequest) -> Search:
        """Makes the search of a request that has no violations."""
        job = None if request.resumes is None else self._find(request.resumes)
        return search_of(request, job.spec.search if job else None)

    def last_number(self, request: SearchRequest, spec: JobSpec) -> int:
        """Returns the number of the last trial before the requested search: see PriorStudies."""
        resumes, learns_from = str(request.resumes or ""), str(request.learns_from or "")
        return self._earlier.last_number(resumes, learns_from, output_directory(spec))

    def writing_to(self, directory: str) -> tuple[Job, ...]:
        """Returns the jobs with this output directory, newest first."""
        return self._store.writing_to(directory)

    def tuning(self, request: SearchRequest, tuning: Tuning) -> Tuning:
        """Returns the size of the search, including what it takes from the job that it resumes."""
        resumed = None if request.resumes is None else self._find(request.resumes)
        if resumed is None or resumed.spec.search is None:
            return tuning
        chain = self._earlier.chain(str(resumed.name))
        return replace(
            tuning,
            parameters=len(resumed.spec.search.study.space.names),
            earlier_trials=sum(len(study.trials) for study in chain),
        )

    def _check_resumed(self, request: SearchRequest, name: JobName) -> Iterator[Violation]:
        given, job = f"{quoted(name.job_id)} given", self._find(name)
        if job is None:
            allowed = f"a finished tuning job of {name.collection}"
            yield Violation(RESUMED, f"{given}, which does not exist; allowed: {allowed}")
        elif job.spec.search is None:
            yield Violation(
                RESUMED, f"{given}, which isn't a tuning job; allowed: a finished tuning job"
            )
        elif not job.state.terminal:
            way = "wait for the job's end, or cancel it"
            yield Violation(RESUMED, f"{given}, which is {job.state.value}; {way}")
        else:
            yield from differences(request, job.spec.search)

    def _check_learned(self, request: SearchRequest) -> Iterator[Violation]:
        name = str(request.learns_from)
        kept = self._find_study(name)
        if kept is None:
            allowed = "the id of a tuning job or a study of the same project and region"
            yield Violation(LEARNED, f"{quoted(name)} isn't there; allowed: {allowed}")
            return
        if request.resumes is not None:
            return
        search, known = search_of(request), kept.study.config
        if search.study.metrics != known.metrics:
            has = ", ".join(f"{m.name} ({m.goal.name})" for m in known.metrics)
            yield Violation(
                LEARNED,
                f"{quoted(name)} has the metrics {has}; allowed: a job with the same metrics",
            )
        elif search.study.space.names.isdisjoint(known.space.names):
            yield Violation(LEARNED, f"{quoted(name)} has none of this job's parameters")

    def _find(self, name: JobName) -> Job | None:
        try:
            return self._store.get(name)
        except NotFound:
            return None

    def _find_study(self, name: str) -> StudyWithTrials | None:
        try:
            return self._earlier.find(name)
        except NotFound:
            return None
