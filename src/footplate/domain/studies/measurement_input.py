"""Checks measurements that users report. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import listed, quoted
from footplate.domain.studies.metrics import Measurement, Metric
from footplate.domain.studies.records import Report, TrialRecord


def check_metrics(measurement: Measurement, known: Collection[str], field: str) -> None:
    """Checks that a measurement has only metrics of the study. Raises InvalidArgument."""
    unknown = [name for name in measurement.values if name not in known]
    if unknown:
        allowed = f"the study's metrics {listed(sorted(known))}"
        said = f"{listed([quoted(name) for name in unknown])} given; allowed: {allowed}"
        raise InvalidArgument.of((Violation(f"{field}.metrics", said),))


def check_whole(measurement: Measurement, metrics: Sequence[Metric], field: str) -> None:
    """Checks that a measurement has all metrics, as a trial is judged by them.

    Raises InvalidArgument: a metric is missing.
    """
    missing = [metric.name for metric in metrics if metric.name not in measurement.values]
    if missing:
        said = f"metric {listed(missing)} is missing; give each metric a value, or NaN"
        raise InvalidArgument.of((Violation(f"{field}.metrics", said),))


def timed(measurement: Measurement, trial: TrialRecord, now: datetime) -> Measurement:
    """Sets the elapsed time to now if the measurement has neither step nor time."""
    if measurement.step or measurement.elapsed_s or trial.start_time is None:
        return measurement
    return replace(measurement, elapsed_s=max(0.0, (now - trial.start_time).total_seconds()))


def report_of(measurement: Measurement, now: datetime) -> Report:
    """Makes a report; a repeated one, as after a broken connection, has the same key."""
    values = sorted(measurement.values.items())
    key = f"{measurement.step} {measurement.elapsed_s!r} {values!r}"
    return Report(key, measurement.values, measurement.step, measurement.elapsed_s, now)


def curve(reports: Iterable[Report]) -> tuple[Measurement, ...]:
    """Returns the measurements of one trial by step, then by time; of equal ones the last.

    Unlike programs, clients of Vizier send the values of a step together, and may count by time
    alone: so nothing is joined.
    """
    found = {(r.step, r.elapsed_s): Measurement(r.values, r.step, r.elapsed_s) for r in reports}
    return tuple(found[place] for place in sorted(found))
