"""Brings the scalars of jobs' event files to their TensorBoards, while the jobs run and after.

What was read is written before it is noted how far; so after a crash a piece is read twice, and a
point at the same step takes the place of the first.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from threading import Lock

from footplate.control.tracking.resources import Resources
from footplate.control.tracking.time_series import VALUE_TYPE
from footplate.control.uri_paths import local_path
from footplate.domain.errors import AlreadyExists, InvalidArgument, NotFound, ServiceError
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobUid
from footplate.domain.tracking.log_uploads import (
    LogUpload,
    point,
    run_name,
    run_of,
    series_of,
    upload_of,
)
from footplate.domain.tracking.names import TrackingName, parse_tracking_name
from footplate.domain.tracking.points import Point
from footplate.domain.tracking.resources import DISPLAY_NAME, Fields
from footplate.ports.buckets import Buckets
from footplate.ports.clock import Clock
from footplate.ports.event_files import EventFiles, LoggedScalar
from footplate.ports.log_uploads import LogUploadStore
from footplate.ports.store import Store
from footplate.ports.tracking import TrackingStore

INTERVAL_S = 5.0
"""So often the files of running jobs are looked at."""
BUSY_S = 0.2
"""So soon, if there is more to read: pieces are small, that others get their turn."""
PIECE_BYTES = 1 << 18
_SCALAR = {VALUE_TYPE: "SCALAR", "pluginName": "scalars"}
_log = logging.getLogger(__name__)


class LogUploads:
    def __init__(
        self,
        uploads: LogUploadStore,
        jobs: Store,
        tracking: TrackingStore,
        resources: Resources,
        files: EventFiles,
        buckets: Buckets,
        clock: Clock,
    ) -> None:
        self._uploads = uploads
        self._jobs = jobs
        self._tracking = tracking
        self._resources = resources
        self._files = files
        self._buckets = buckets
        self._clock = clock
        self._lock = Lock()
        self._changed: set[JobUid] = set()
        self._anew = True
        self._done: set[JobUid] = set()
        """What is written to these after their end is no reason to read their files again."""
        self._looked_at = datetime.min.replace(tzinfo=UTC)

    def note(self, uid: JobUid, job: Job | None = None) -> bool:
        """Notes that the job was written to; returns whether ``step`` should be called.

        Never blocks for long. ``job`` is the job as it was written: one without a TensorBoard needs
        no step, and most have none.
        """
        if job is not None and upload_of(job) is None:
            return False
        with self._lock:
            self._changed.add(uid)
            return len(self._changed) == 1

    def refresh(self) -> None:
        """Makes the next step look for new jobs that it wasn't told of."""
        with self._lock:
            self._anew = True

    def step(self) -> float | None:
        """Reads a piece of each job's files; returns the seconds until the next step, if any.

        However often jobs are written to, it reads only every ``BUSY_S``. Raises Unavailable: the
        next step reads the same pieces again.
        """
        now = self._clock.now()
        # `abs`: a clock that was set back must not stop the reading.
        if abs((now - self._looked_at).total_seconds()) < BUSY_S:
            return BUSY_S
        self._looked_at = now
        uploads = {each.uid: each for each in self._uploads.all()}
        for job in self._new_jobs():
            upload = upload_of(job)
            if upload is not None and job.uid not in uploads.keys() | self._done:
                self._uploads.put(upload)
                uploads[job.uid] = upload
        waits = [self._advance(upload) for upload in uploads.values()]
        return min((each for each in waits if each is not None), default=None)

    def _new_jobs(self) -> Sequence[Job]:
        with self._lock:
            changed, self._changed = self._changed, set()
            anew, self._anew = self._anew, False
        found = list(self._jobs.active()) if anew else []
        for uid in changed:
            with suppress(ServiceError):  # it was deleted, or can't be read
                found.append(self._jobs.get_by_uid(uid))
        return found

    def _advance(self, upload: LogUpload) -> float | None:
        """Reads the next piece; returns the seconds to the next one, None: there is none."""
        # The state is read before the files. If the job had ended by then, this reading finds
        # everything that its programs wrote, and one without scalars is the last.
        job = self._find(upload.uid)
        ended = job is None or job.state.terminal
        try:
            directory = local_path(upload.directory, self._buckets)
            piece = self._files.read(directory, upload.positions, PIECE_BYTES)
            if piece.scalars:
                self._write(upload, job, piece.scalars)
        except (NotFound, InvalidArgument) as error:
            # Its bucket or its TensorBoard was deleted, or a program has made a link out of it.
            _log.warning(
                "the server doesn't read the event files of job %s: %s", upload.uid, error.message
            )
            self._tell(job, f"the server no longer reads the job's event files: {error.message}")
            self._finish(upload)
            return None
        if piece.positions != upload.positions:
            self._uploads.put(replace(upload, positions=piece.positions))
        if piece.more:
            return BUSY_S
        if ended and not piece.scalars:
            self._finish(upload)
            return None
        return BUSY_S if ended else INTERVAL_S

    def _finish(self, upload: LogUpload) -> None:
        self._done.add(upload.uid)
        self._uploads.delete(upload.uid)

    def _find(self, uid: JobUid) -> Job | None:
        try:
            return self._jobs.get_by_uid(uid)
        except NotFound:
            return None

    def _write(self, upload: LogUpload, job: Job | None, scalars: Sequence[LoggedScalar]) -> None:
        """Writes scalars to the experiment, and creates it if necessary.

        Raises NotFound: the TensorBoard was deleted.
        """
        experiment = parse_tracking_name(upload.experiment)
        if not self._resources.exists(experiment):
            source = {} if job is None else {"source": str(job.name)}
            shown = experiment.id if job is None else job.display_name or experiment.id
            self._make(experiment, {DISPLAY_NAME: shown, **source})
            self._tell(job, f"the experiment {experiment} shows the job's event files")
        points: dict[TrackingName, dict[int, Point]] = {}
        runs: dict[str, TrackingName] = {}
        for each in scalars:
            called = run_name(upload, each.folder)
            run = runs.setdefault(called, run_of(experiment, called))
            series = points.setdefault(series_of(run, each.tag), {})
            series[each.step] = point(each.step, each.value, each.time, self._clock.now())
        tags = {series_of(runs[run_name(upload, s.folder)], s.tag): s.tag for s in scalars}
        self._make_all({run: {DISPLAY_NAME: called} for called, run in runs.items()})
        self._make_all({name: {DISPLAY_NAME: tag, **_SCALAR} for name, tag in tags.items()})
        self._tracking.append({name: tuple(found.values()) for name, found in points.items()})

    def _make_all(self, wanted: dict[TrackingName, Fields]) -> None:
        there = {resource.name for resource in self._tracking.find(tuple(wanted))}
        for name, fields in wanted.items():
            if name not in there:
                self._make(name, fields)

    def _make(self, name: TrackingName, fields: Fields) -> None:
        """Creates the resource, unless another server creates it at the same time."""
        try:
            self._resources.create(name, fields)
        except AlreadyExists:
            if not self._resources.exists(name):  # a run that a client called the same
                self._resources.create(name, {**fields, DISPLAY_NAME: f"{name.id} (event files)"})

    def _tell(self, job: Job | None, text: str) -> None:
        if job is not None:
            event = JobEvent(self._clock.now(), "TENSORBOARD", text, key="TENSORBOARD")
            with suppress(NotFound):
                self._jobs.append(job.uid, (event,))
