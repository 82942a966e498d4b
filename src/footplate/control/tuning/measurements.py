"""Stores the metrics that replicas report with their trials."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from footplate.control.tuning.trial_jobs import TAGS
from footplate.domain.errors import NotFound
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobUid, StudyUid
from footplate.domain.replica_records import MetricRecord, Record, TagsRecord
from footplate.domain.studies.learning_curves import report_key
from footplate.domain.studies.records import Report
from footplate.ports.clock import Clock
from footplate.ports.store import Store
from footplate.ports.studies import StudyStore


class MeasurementRecorder:
    """Stores each measurement once, however often it is found and reported."""

    def __init__(
        self,
        store: Store,
        studies: StudyStore,
        clock: Clock,
        told: Callable[[JobUid], None] = lambda _: None,
    ) -> None:
        """Stores the dependencies.

        ``told`` is called with a tuning job that has new measurements.
        """
        self._store = store
        self._studies = studies
        self._clock = clock
        self._told = told

    def keep(self, run: Job, replica: str, records: Sequence[Record]) -> None:
        """Stores the records about metrics, if the job runs a trial.

        Raises Unavailable: try again later; records that were stored will not be duplicated.
        """
        if run.tuning_job is None or run.spec.trial is None:
            return
        found = [r for r in records if isinstance(r, MetricRecord) and r.tag in run.spec.metrics]
        if found:
            self._keep(run, run.tuning_job, int(run.spec.trial), found)
        for record in records:
            if isinstance(record, TagsRecord):
                self._note(run, replica, record)

    def _keep(
        self, run: Job, tuning_job: JobUid, number: int, found: Sequence[MetricRecord]
    ) -> None:
        reports = [_report(record, run) for record in found]
        try:
            new = self._studies.report(StudyUid(tuning_job), number, reports)
        except NotFound:  # the tuning job was deleted: they are not needed any more
            return
        if new:
            self._told(tuning_job)

    def _note(self, run: Job, replica: str, record: TagsRecord) -> None:
        key = f"{run.attempt}/{replica}/{record.sequence}"
        tags = json.dumps(record.tags)
        event = JobEvent(self._clock.now(), TAGS, tags, run.attempt, replica, key)
        self._store.append(run.uid, (event,))


def _report(record: MetricRecord, run: Job) -> Report:
    elapsed = 0.0 if run.start_time is None else (record.time - run.start_time).total_seconds()
    time_s = record.time.timestamp()
    return Report(
        key=report_key(record.tag, record.source, record.step, time_s, record.value),
        values={record.tag: record.value},
        step=record.step,
        elapsed_s=max(0.0, elapsed),
        time=record.time,
        source=record.source,
    )
