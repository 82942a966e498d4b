"""What a trial is judged by, made of all that it reported.

One metric may be written in several places, and more than once for a step. What counts: what was
reported by cloudml-hypertune, if anything was; else what stands in folders of evaluations; else
all. Of several reports of one step the last one counts.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from footplate.domain.studies.metrics import Measurement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from footplate.domain.studies.metrics import Metric
    from footplate.domain.studies.records import Report

HYPERTUNE = "hypertune"
"""The source of what cloudml-hypertune reported."""
_EVALUATION = re.compile(r"(?<![a-z])(eval|evaluation|validation|valid|val|test)(?![a-z])")


def measurements(reports: Iterable[Report], metrics: Sequence[Metric]) -> tuple[Measurement, ...]:
    """By step; each with all of the metrics that were reported of it."""
    kept = list(reports)
    values: dict[int, dict[str, float]] = {}
    elapsed: dict[int, float] = {}
    for metric in metrics:
        for report in _counting([r for r in kept if metric.name in r.values]):
            values.setdefault(report.step, {})[metric.name] = report.values[metric.name]
            elapsed[report.step] = max(report.elapsed_s, elapsed.get(report.step, 0.0))
    return tuple(Measurement(values[step], step, elapsed[step]) for step in sorted(values))


def report_key(tag: str, source: str, step: int, time_s: float, value: float) -> str:
    """The same for what was reported once and read again; ``time_s``: since 1970."""
    text = "\0".join((tag, source, str(step), repr(time_s), repr(value)))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def is_evaluation(source: str) -> bool:
    """Whether a folder is one of evaluations, as its last two parts are called."""
    return any(_EVALUATION.search(part.casefold()) for part in source.split("/")[-2:])


def _counting(reports: Sequence[Report]) -> list[Report]:
    """Those that count, one for each step: the last one written."""
    told = [report for report in reports if report.source in (HYPERTUNE, "")]
    evaluated = [report for report in reports if is_evaluation(report.source)]
    by_step: dict[int, Report] = {}
    for report in sorted(told or evaluated or reports, key=lambda report: report.time):
        by_step[report.step] = report
    return list(by_step.values())
