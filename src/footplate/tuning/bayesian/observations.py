"""Converts a study's trials to numbers for the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.study import Study
from footplate.domain.studies.trials import Trial
from footplate.tuning.encoding import Encoding

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

MOST_ROWS = 500
"""A model of more would be slow, and no better: the best ones and the latest are kept."""


@dataclass(frozen=True)
class Observations:
    rows: Floats
    losses: Floats
    """(rows, metrics), finite."""
    trials: tuple[Trial, ...]
    """One for each row."""
    infeasible: Floats
    """The rows of trials that ended without values."""


def observe(study: Study, encoding: Encoding) -> Observations:
    """Returns the observations of this study, and of earlier ones of its space and metrics."""
    return observed(counted(study, encoding), study.config.metrics, encoding)


def observed(
    trials: Sequence[Trial], metrics: Sequence[Metric], encoding: Encoding
) -> Observations:
    """Returns the observations of trials in the space, in their order."""
    ended = [trial for trial in trials if trial.state.ended]
    valued = [(trial, values) for trial in ended if (values := trial.values(metrics)) is not None]
    losses = [[m.loss(v) for m, v in zip(metrics, values, strict=True)] for _, values in valued]
    kept = _most_telling(np.array(losses).reshape(len(losses), len(metrics)))
    found = tuple(valued[place][0] for place in kept)
    failed = [t.point for t in ended if t.values(metrics) is None]
    return Observations(
        encoding.rows([trial.point for trial in found]),
        np.array([losses[place] for place in kept]).reshape(len(kept), len(metrics)),
        found,
        encoding.rows(failed[-MOST_ROWS // 2 :]),
    )


def related_studies(study: Study) -> tuple[Study, ...]:
    """Returns the earlier studies whose trials count like own ones."""
    config = study.config
    return tuple(
        one
        for one in study.earlier
        if one.config.space == config.space and one.config.metrics == config.metrics
    )


def in_space(trials: Sequence[Trial], encoding: Encoding) -> list[Trial]:
    return [
        t for t in sorted(trials, key=lambda trial: trial.number) if encoding.space.has(t.point)
    ]


def counted(study: Study, encoding: Encoding) -> list[Trial]:
    """Returns all trials that count, ended or not, in their order."""
    return [
        trial
        for one in (*related_studies(study), study)
        for trial in in_space(one.trials, encoding)
    ]


def finished_count(study: Study) -> int:
    """Returns the number of finished trials, which decides when models are fitted again."""
    return sum(len(one.finished) for one in (*related_studies(study), study))


def _most_telling(losses: Floats) -> list[int]:
    """Chooses the rows to keep if there are too many: half the best, half the latest ones."""
    count = len(losses)
    if count <= MOST_ROWS:
        return list(range(count))
    latest = set(range(count - MOST_ROWS // 2, count))
    best_first = (int(place) for place in np.argsort(losses[:, 0], kind="stable"))
    others = [place for place in best_first if place not in latest]
    return sorted(latest.union(others[: MOST_ROWS - len(latest)]))
