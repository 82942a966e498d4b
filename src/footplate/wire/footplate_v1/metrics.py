"""The JSON of the metrics that a job's programs reported."""

from __future__ import annotations

from datetime import UTC, datetime

from footplate.domain.metric_series import MetricPoint, MetricSeries, ReportedMetrics
from footplate.wire.doubles import double_json
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time


def metrics_json(reported: ReportedMetrics, points: int) -> JsonObject:
    """Returns the metrics, with at most ``points`` (2 or more) of each series, evenly chosen."""
    return {
        "series": [_series(each, points) for each in reported.series],
        "more": reported.more,
        "omitted": reported.omitted,
    }


def _series(series: MetricSeries, most: int) -> JsonObject:
    shown = _evenly(series.points, most)
    return {
        "metric": series.metric,
        "source": series.source,
        "steps": [point.step for point in shown],
        "times": [format_time(datetime.fromtimestamp(point.time_s, UTC)) for point in shown],
        "values": [double_json(point.value) for point in shown],
    }


def _evenly(points: tuple[MetricPoint, ...], most: int) -> list[MetricPoint]:
    """Returns at most ``most`` points, evenly chosen, with the first and the last one."""
    last = len(points) - 1
    if last < most:
        return list(points)
    return [points[place * last // (most - 1)] for place in range(most)]
