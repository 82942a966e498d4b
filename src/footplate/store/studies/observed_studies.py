"""A wrapper of the studies store that notifies listeners of writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies.records import Report, StoredReport, StudyRecord, TrialRecord
from footplate.ports.pages import Page
from footplate.ports.studies import StudyStore, StudyWithTrials


class ObservedStudies:
    """Wraps ``inner``, and calls ``changed`` after each write, even a failed one."""

    def __init__(self, inner: StudyStore, changed: Callable[[StudyUid], None]) -> None:
        self._inner = inner
        self._changed = changed

    def create(self, study: StudyRecord) -> None:
        try:
            self._inner.create(study)
        finally:
            self._changed(study.uid)

    def write(
        self,
        study: StudyRecord,
        trials: Sequence[TrialRecord] = (),
        models: Mapping[int, Mapping[str, object]] | None = None,
        dropped: Sequence[int] = (),
    ) -> None:
        try:
            self._inner.write(study, trials, models, dropped)
        finally:
            self._changed(study.uid)

    def report(self, uid: StudyUid, number: int, reports: Sequence[Report]) -> int:
        try:
            return self._inner.report(uid, number, reports)
        finally:
            self._changed(uid)

    def delete(self, uid: StudyUid) -> None:
        try:
            self._inner.delete(uid)
        finally:
            self._changed(uid)

    def load(self, uid: StudyUid) -> StudyWithTrials:
        return self._inner.load(uid)

    def find(self, name: StudyName) -> StudyWithTrials:
        return self._inner.find(name)

    def lookup(self, collection: str, display_name: str) -> StudyRecord:
        return self._inner.lookup(collection, display_name)

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[StudyRecord]:
        return self._inner.list(collection, limit=limit, after=after)

    def model(self, uid: StudyUid, finished: int) -> Mapping[str, object] | None:
        return self._inner.model(uid, finished)

    def reports(
        self, uid: StudyUid, number: int | None = None, after: int = 0, limit: int = 100_000
    ) -> tuple[StoredReport, ...]:
        return self._inner.reports(uid, number, after, limit)
