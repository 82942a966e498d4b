"""The metrics that a job's programs reported: the scalars of the event files in its directories,
and what a trial reported besides.

Event files are read where somebody asks, a piece for each question; how far is kept in memory for
the jobs that were asked for last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from footplate.control.uri_paths import local_path
from footplate.domain.errors import InvalidArgument, NotFound
from footplate.domain.jobs import Job
from footplate.domain.metric_series import MetricSeries, ReportedMetrics, SeriesPoints
from footplate.domain.names import JobUid
from footplate.domain.output_directories import common_directory
from footplate.domain.studies.records import StoredReport
from footplate.domain.tracking.log_uploads import FilePosition
from footplate.ports.buckets import Buckets
from footplate.ports.event_files import EventFiles

PIECE_BYTES = 1 << 18
"""Read for one question, so that it is answered soon."""
MOST_SERIES = 100
MOST_JOBS = 16
_LONGEST_NAME = 256


@dataclass
class _Reading:
    """The positions up to which a job's files were read, by directory, and the series found."""

    lock: Lock = field(default_factory=Lock)
    positions: dict[str, Mapping[str, FilePosition]] = field(default_factory=dict)
    series: dict[tuple[str, str], SeriesPoints] = field(default_factory=dict)
    omitted: bool = False

    def add(self, metric: str, source: str, step: int, time_s: float, value: float) -> None:
        key = metric[:_LONGEST_NAME], source
        if key not in self.series and len(self.series) >= MOST_SERIES:
            self.omitted = True
            return
        self.series.setdefault(key, SeriesPoints()).add(step, time_s, value)


class JobMetrics:
    def __init__(
        self,
        files: EventFiles,
        buckets: Buckets,
        reports: Callable[[JobUid, int], Sequence[StoredReport]],
    ) -> None:
        """Creates the reader; ``reports`` returns the reports of a tuning job's trial."""
        self._files = files
        self._buckets = buckets
        self._reports = reports
        self._lock = Lock()
        self._readings: OrderedDict[JobUid, _Reading] = OrderedDict()

    def read(self, job: Job) -> ReportedMetrics:
        """Reads the next piece of the job's event files; returns all metrics read so far."""
        reading = self._reading(job.uid)
        with reading.lock:
            more = self._read_on(job, reading)
            series = [
                MetricSeries(metric, source, points.points())
                for (metric, source), points in reading.series.items()
            ]
        found = {each.metric for each in series}
        series += [each for each in self._reported(job) if each.metric not in found]
        series.sort(key=lambda each: (each.metric, each.source))
        return ReportedMetrics(tuple(series), more=more, omitted=reading.omitted)

    def _reading(self, uid: JobUid) -> _Reading:
        with self._lock:
            reading = self._readings.setdefault(uid, _Reading())
            self._readings.move_to_end(uid)
            if len(self._readings) > MOST_JOBS:
                self._readings.popitem(last=False)
            return reading

    def _read_on(self, job: Job, reading: _Reading) -> bool:
        """Reads the next piece of each directory; returns whether something is left to read."""
        more = False
        for directory, name in self._directories(job):
            positions = reading.positions.get(directory, {})
            piece = self._files.read(directory, positions, PIECE_BYTES)
            reading.positions[directory] = piece.positions
            more = more or piece.more
            for each in piece.scalars:
                folder = "/".join(part for part in (name, each.folder) if part not in ("", "."))
                reading.add(each.tag, folder or ".", each.step, each.time, each.value)
        return more

    def _directories(self, job: Job) -> Iterator[tuple[str, str]]:
        """Yields the job's folders on this machine, each with a short name such as ``logs``."""
        uris = list(dict.fromkeys(each.uri.rstrip("/") for each in job.spec.directories))
        common = common_directory(uris)
        for uri in uris:
            with suppress(NotFound, InvalidArgument):  # its bucket was deleted, or it became a link
                path = local_path(uri, self._buckets)
                if path.startswith("/"):
                    yield path, uri.removeprefix(common).strip("/")

    def _reported(self, job: Job) -> list[MetricSeries]:
        """Returns what a trial reported, also what was found outside its directories."""
        if job.tuning_job is None or job.spec.trial is None:
            return []
        reading = _Reading()
        for stored in self._reports(job.tuning_job, int(job.spec.trial)):
            report = stored.report
            for metric, value in report.values.items():
                time_s = report.time.timestamp()
                reading.add(metric, report.source or "client", report.step, time_s, value)
        return [
            MetricSeries(metric, source, points.points())
            for (metric, source), points in reading.series.items()
        ]
