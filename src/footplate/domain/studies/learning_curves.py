"""Derives a trial's measurements from its reports.

Programs may report one metric in several places: each metric is taken from one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from footplate.domain.studies.metrics import Measurement, Metric
from footplate.domain.studies.records import Report

HYPERTUNE = "hypertune"
"""The source of what a program reports by cloudml-hypertune."""
_EVALUATION = frozenset(("eval", "evaluation", "validation", "valid", "val", "test"))
_TRAINING = frozenset(("train", "training"))
_TELLING_PARTS = 2
_WORD = re.compile("[a-z]+")


def measurements(reports: Iterable[Report], metrics: Sequence[Metric]) -> tuple[Measurement, ...]:
    """Joins the reports of each step into measurements, ordered by step, then by elapsed time.

    ``reports`` are in the order of their arrival, which decides between reports of the same time.
    """
    kept = list(reports)
    chosen = {metric.name: _curve(kept, metric.name) for metric in metrics}
    steps = {step for curve in chosen.values() for step in curve}
    joined = (_join(chosen, step) for step in steps)
    return tuple(sorted(joined, key=lambda measurement: (measurement.step, measurement.elapsed_s)))


def report_key(tag: str, source: str, step: int, time_s: float, value: float) -> str:
    """Returns a key that is equal if the same report is read again; ``time_s`` is since 1970."""
    text = "\0".join((tag, source, str(step), repr(time_s), repr(value)))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def is_evaluation(folder: str) -> bool:
    """Returns whether a folder of event files is named after evaluations, not training.

    Of the last two parts of its path, the last one with a word for either decides.
    """
    for part in reversed(folder.lower().split("/")[-_TELLING_PARTS:]):
        words = set(_WORD.findall(part))
        if words & (_EVALUATION | _TRAINING):
            return not words & _TRAINING
    return False


def _curve(reports: Sequence[Report], name: str) -> dict[int, Report]:
    """Returns, by step, the reports that were written last in the highest-ranked source."""
    reported = [report for report in reports if name in report.values]
    reported.sort(key=lambda report: report.time)
    if not reported:
        return {}
    last = max(enumerate(reported), key=lambda placed: (_rank(placed[1].source), placed[0]))[1]
    return {report.step: report for report in reported if report.source == last.source}


def _rank(source: str) -> int:
    """Returns the rank of a source; only the reports of the highest rank count."""
    if source == "":
        return 3
    if source == HYPERTUNE:
        return 2
    return 1 if is_evaluation(source) else 0


def _join(chosen: Mapping[str, Mapping[int, Report]], step: int) -> Measurement:
    there = {name: curve[step] for name, curve in chosen.items() if step in curve}
    values = {name: report.values[name] for name, report in there.items()}
    return Measurement(values, step, max(report.elapsed_s for report in there.values()))
