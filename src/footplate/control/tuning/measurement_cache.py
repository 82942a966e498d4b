"""A cache of the measurements that trials have reported."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from footplate.domain.names import StudyUid
from footplate.domain.studies.learning_curves import HYPERTUNE, measurements
from footplate.domain.studies.metrics import Measurement, Metric
from footplate.domain.studies.records import Report
from footplate.ports.studies import StudyStore

_STUDIES = 64
_AT_ONCE = 10_000


@dataclass
class _Seen:
    position: int = 0
    by_trial: dict[int, list[Report]] = field(default_factory=dict)
    curves: dict[int, tuple[Measurement, ...]] = field(default_factory=dict)
    """The curves of trials that have reported nothing since somebody asked."""
    lock: Lock = field(default_factory=Lock)


class MeasurementCache:
    """A mirror of the store's reports, each of which is read only once."""

    def __init__(self, studies: StudyStore) -> None:
        self._studies = studies
        self._lock = Lock()
        self._seen: OrderedDict[StudyUid, _Seen] = OrderedDict()

    def curves(
        self, uid: StudyUid, metrics: Sequence[Metric]
    ) -> dict[int, tuple[Measurement, ...]]:
        """Returns the measurements of each trial that has reported anything, by its number.

        ``metrics`` are the study's own. A trial without new reports has the same object as before.
        """
        seen = self._of(uid)
        with seen.lock:
            self._catch_up(uid, seen)
            for number in seen.by_trial.keys() - seen.curves.keys():
                seen.curves[number] = measurements(seen.by_trial[number], metrics)
            return dict(seen.curves)

    def by_trial(self, uid: StudyUid) -> dict[int, tuple[Report, ...]]:
        """Returns all reports of each trial of the study, unchanged, by the trial's number."""
        seen = self._of(uid)
        with seen.lock:
            self._catch_up(uid, seen)
            return {number: tuple(reports) for number, reports in seen.by_trial.items()}

    def curve(
        self, uid: StudyUid, number: int, metrics: Sequence[Metric]
    ) -> tuple[Measurement, ...]:
        """Returns the measurements of one trial, read from the store."""
        kept = self._studies.reports(uid, number)
        return measurements([stored.report for stored in kept], metrics)

    def hypertuned(self, uid: StudyUid, number: int, metrics: Sequence[Metric]) -> bool:
        """Returns whether a trial has reported all metrics with cloudml-hypertune."""
        kept = (stored.report for stored in self._studies.reports(uid, number))
        named = {name for report in kept if report.source == HYPERTUNE for name in report.values}
        return all(metric.name in named for metric in metrics)

    def forget(self, uid: StudyUid) -> None:
        with self._lock:
            self._seen.pop(uid, None)

    def _of(self, uid: StudyUid) -> _Seen:
        with self._lock:
            seen = self._seen.setdefault(uid, _Seen())
            self._seen.move_to_end(uid)
            while len(self._seen) > _STUDIES:
                self._seen.popitem(last=False)
            return seen

    def _catch_up(self, uid: StudyUid, seen: _Seen) -> None:
        while True:
            new = self._studies.reports(uid, after=seen.position, limit=_AT_ONCE)
            for stored in new:
                seen.by_trial.setdefault(stored.number, []).append(stored.report)
                seen.curves.pop(stored.number, None)
                seen.position = stored.position
            if len(new) < _AT_ONCE:
                return
