"""Studies that are forgotten at the end: for tests, and the oracle of the real store."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

from footplate.domain.errors import Aborted, AlreadyExists, NotFound
from footplate.domain.studies.records import StoredReport
from footplate.ports.studies import MAX_REPORTS, StudyWithTrials
from footplate.store.input_checks import check_point, check_study_texts
from footplate.store.paging import Position, first_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.domain.names import StudyName, StudyUid
    from footplate.domain.studies.records import Report, StudyRecord, TrialRecord
    from footplate.ports.pages import Page


@dataclass
class _Kept:
    study: StudyRecord
    trials: dict[int, TrialRecord] = field(default_factory=dict)
    models: dict[int, Mapping[str, object]] = field(default_factory=dict)
    reports: list[StoredReport] = field(default_factory=list)
    last_position: int = 0

    def whole(self) -> StudyWithTrials:
        return StudyWithTrials(
            self.study, tuple(self.trials[number] for number in sorted(self.trials))
        )


class MemoryStudies:
    """``footplate.ports.studies.StudyStore`` in a dictionary."""

    def __init__(self, max_reports: int = MAX_REPORTS) -> None:
        self._lock = Lock()
        self._studies: dict[StudyUid, _Kept] = {}
        self._max_reports = max_reports

    def create(self, study: StudyRecord) -> None:
        check_study_texts(study)
        with self._lock:
            if any(_clash(study, kept.study) for kept in self._studies.values()):
                raise AlreadyExists(f"study {study.name or study.uid} already exists")
            self._studies[study.uid] = _Kept(study)

    def load(self, uid: StudyUid) -> StudyWithTrials:
        with self._lock:
            return self._of(uid).whole()

    def find(self, name: StudyName) -> StudyWithTrials:
        with self._lock:
            for kept in self._studies.values():
                if kept.study.name == name:
                    return kept.whole()
        raise NotFound(f"{name} does not exist")

    def lookup(self, collection: str, display_name: str) -> StudyRecord:
        for study in self._listed(collection):
            if study.display_name == display_name:
                return study
        raise NotFound(f"{collection!a} has no study with the display name {display_name!a}")

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[StudyRecord]:
        place = None if after is None else Position.parse(after)
        listed = sorted(self._listed(collection), key=Position.of, reverse=True)
        rest = [study for study in listed if place is None or Position.of(study) < place]
        return first_page(rest, limit, Position.of)

    def write(
        self,
        study: StudyRecord,
        trials: Sequence[TrialRecord] = (),
        models: Mapping[int, Mapping[str, object]] | None = None,
        dropped: Sequence[int] = (),
    ) -> None:
        check_study_texts(study)
        for trial in trials:
            check_point(trial.point)
        with self._lock:
            kept = self._of(study.uid)
            if kept.study.version != study.version - 1:
                raise Aborted(f"study {study.uid} is at version {kept.study.version}")
            kept.study = replace(study, earlier=kept.study.earlier)
            kept.trials.update({trial.number: trial for trial in trials})
            kept.models.update(models or {})
            for number in dropped:
                kept.trials.pop(number, None)
            kept.reports = [told for told in kept.reports if told.number not in dropped]

    def model(self, uid: StudyUid, finished: int) -> Mapping[str, object] | None:
        with self._lock:
            kept = self._studies.get(uid)
            return None if kept is None else kept.models.get(finished)

    def report(self, uid: StudyUid, number: int, reports: Sequence[Report]) -> int:
        with self._lock:
            kept = self._of(uid)
            if number not in kept.trials:
                raise NotFound(f"study {uid} has no trial {number}")
            known = {told.report.key for told in kept.reports if told.number == number}
            before = len(known)
            for report in reports:
                if report.key not in known and len(known) < self._max_reports:
                    known.add(report.key)
                    kept.last_position += 1
                    kept.reports.append(StoredReport(kept.last_position, number, report))
            return len(known) - before

    def reports(
        self, uid: StudyUid, number: int | None = None, after: int = 0, limit: int = 100_000
    ) -> tuple[StoredReport, ...]:
        with self._lock:
            kept = self._studies.get(uid)
            told = [] if kept is None else list(kept.reports)
        found = [r for r in told if r.position > after and number in (None, r.number)]
        return tuple(found[:limit])

    def delete(self, uid: StudyUid) -> None:
        with self._lock:
            self._studies.pop(uid, None)

    def _of(self, uid: StudyUid) -> _Kept:
        if uid not in self._studies:
            raise NotFound(f"{uid!a} does not exist")
        return self._studies[uid]

    def _listed(self, collection: str) -> tuple[StudyRecord, ...]:
        with self._lock:
            studies = [kept.study for kept in self._studies.values()]
        return tuple(s for s in studies if s.name is not None and s.name.collection == collection)


def _clash(new: StudyRecord, old: StudyRecord) -> bool:
    if new.uid == old.uid:
        return True
    if new.name is None or old.name is None:
        return False
    beside = new.name.collection == old.name.collection
    return new.name == old.name or (beside and new.display_name == old.display_name)
