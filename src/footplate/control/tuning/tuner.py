"""Brings each tuning job and each training pipeline forward as soon as something of it changes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock

from footplate.control.pipelines import PipelineAdvance
from footplate.control.suggestions.model_fitting import Models
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.control.tuning.step import TuningStep
from footplate.domain.errors import Aborted, NotFound, NotLeading, ServiceError
from footplate.domain.names import JobUid, StudyUid, parse_run_uid, pipeline_uid
from footplate.ports.store import Store

RETRY_S = 1.0
"""The time to the next look at a job whose records couldn't be read or written."""
MAX_RETRY_S = 30.0
"""The time doubles with each failure, up to this."""
_TOLD = 5
"""Failures in a row that are logged; what can't go on for one reason has the same one next time."""
_log = logging.getLogger(__name__)


class Tuner:
    """Advances tuning jobs and pipelines.

    It keeps only the set of jobs to process, which it reads from the store at first use.
    """

    def __init__(
        self,
        store: Store,
        advance: TuningStep,
        pipelines: PipelineAdvance,
        models: Models,
        reported: MeasurementCache,
        wake: Callable[[], None],
    ) -> None:
        """Stores the dependencies.

        ``wake`` is called when there is something to do, which ``step`` then does.
        """
        self._store = store
        self._advance = advance
        self._pipelines = pipelines
        self._models = models
        self._reported = reported
        self._wake = wake
        self._lock = Lock()
        self._active: set[JobUid] = set()
        self._changed: set[JobUid] = set()
        self._failed: dict[JobUid, int] = {}
        self._loaded = False

    def begin(self, uid: JobUid) -> None:
        """Adds a new tuning job or pipeline."""
        with self._lock:
            self._active.add(uid)
            self._changed.add(uid)
        self._wake()

    def refresh(self) -> None:
        """Makes the next step read all tuning jobs and pipelines again."""
        self._loaded = False
        self._wake()

    def changed(self, uid: JobUid) -> None:
        """Notes that a job was written to, which may concern a tuning job or a pipeline.

        Never blocks for long.
        """
        run = parse_run_uid(uid)
        tuning_job = uid if run is None else run[0]
        pipeline = pipeline_uid(uid) or uid
        with self._lock:
            concerned = {each for each in (tuning_job, pipeline) if each in self._active}
            self._changed |= concerned
        if concerned:
            self._wake()

    def step(self) -> float | None:
        """Processes the jobs that changed, or all jobs.

        Returns:
            The seconds until the next step is due without a change; None: none is.
        """
        due: float | None = None
        for uid in self._take():
            try:
                self._inspect(uid)
            except Exception as error:
                self._notify(uid, error)
                rest_s = self._rest_s(uid)
                due = rest_s if due is None else min(due, rest_s)
            else:
                self._failed.pop(uid, None)
        return due

    def _rest_s(self, uid: JobUid) -> float:
        """Counts one more failure; returns the seconds until the job is processed again."""
        failures = self._failed[uid] = self._failed.get(uid, 0) + 1
        with self._lock:
            self._changed.add(uid)
        # The exponent has a bound because large powers of a float raise OverflowError.
        return min(MAX_RETRY_S, RETRY_S * 2.0 ** min(failures - 1, 10))

    def _take(self) -> list[JobUid]:
        if not self._loaded:
            # Set before the read: a `refresh` that comes during the read must cause another one.
            self._loaded = True
            self._load()
        with self._lock:
            # Without a noted change it was the loop's backstop that called: a notification may be
            # lost.
            taken, self._changed = self._changed or set(self._active), set()
        return sorted(taken)

    def _load(self) -> None:
        try:
            found = {job.uid for job in self._store.active() if not job.spec.runs_itself}
        except BaseException:
            self._loaded = False
            raise
        with self._lock:
            self._active |= found
            self._changed |= self._active

    def _inspect(self, uid: JobUid) -> None:
        try:
            job = self._store.get_by_uid(uid)
            if job.spec.pipeline is not None and not job.state.terminal:
                job = self._pipelines.inspect(job, job.spec.pipeline)
                if not job.state.terminal:
                    return
            elif job.spec.search is not None and not job.state.terminal:
                job, kept = self._advance.inspect(job, job.spec.search)
                if not job.state.terminal:
                    self._models.prepare(kept)
                    return
        except NotFound:  # deleted
            pass
        with self._lock:
            self._active.discard(uid)
            self._changed.discard(uid)
        self._failed.pop(uid, None)
        self._models.forget(StudyUid(uid))
        self._reported.forget(StudyUid(uid))

    def _notify(self, uid: JobUid, error: Exception) -> None:
        if isinstance(error, Aborted | NotLeading) or self._failed.get(uid, 0) >= _TOLD:
            return
        if isinstance(error, ServiceError):
            _log.error("tuning job %s: %s; the server tries again", uid, error.message)
        else:
            _log.error(
                "the server could not start or end trials of tuning job %s; it tries again",
                uid,
                exc_info=error,
            )
