"""Chooses the designer of a study; grid and random search, which need no model."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10
from typing import assert_never

import numpy as np
import scipy

from footplate.domain.studies.space import Point, SearchSpace
from footplate.domain.studies.study import Algorithm, Study, StudyConfig
from footplate.tuning.bayesian.model import VERSION, Model
from footplate.tuning.bayesian.search import BayesianSearch
from footplate.tuning.designer import Batch, Designer, Explanation, Reason, Suggestion
from footplate.tuning.sampling import SeenPoints, all_tried, draw_new, generator, repeats, tried

_UNCOUNTABLE = 10**15


class GridSearch:
    """A search in the order of :meth:`SearchSpace.point_at`, without points tried before.

    Raises ValueError: a parameter is a range of real numbers. The seed has no effect.
    """

    def suggest(self, study: Study, count: int, seed: int) -> Batch:  # noqa: ARG002 - the protocol
        space, known = study.config.space, tried(study)
        if space.size is None:
            raise ValueError("grid search takes only integer, discrete and categorical parameters")
        found: list[Suggestion] = []
        points = _new_points(space, space.size, known)
        for index, point in points:
            if len(found) == count:
                return Batch(tuple(found))
            sentence = f"point {index + 1} of the {_counted(space.size)} points of the grid"
            found.append(Suggestion(point, Explanation(Reason.GRID, sentence)))
        return Batch(tuple(found), all_tried(study) if len(found) < count else "")


def _counted(size: int) -> str:
    """Formats a count; Python writes out no number of more than some thousand digits."""
    return str(size) if size < _UNCOUNTABLE else f"about 10^{log10(size):.0f}"


def _new_points(space: SearchSpace, size: int, known: SeenPoints) -> Iterator[tuple[int, Point]]:
    for index in range(size):
        point = space.point_at(index)
        if point not in known:
            yield index, point


class RandomSearch:
    """A random search, which draws each parameter independently, on its scale.

    Discrete values are equally likely. No point is repeated before all have been tried. Then the
    search ends, or starts over if the study says that its measurements are noisy.
    """

    def suggest(self, study: Study, count: int, seed: int) -> Batch:
        space, known = study.config.space, tried(study)
        found: list[Suggestion] = []
        for place in range(count):
            rng = generator(seed, len(study.trials) + place)
            point = draw_new(space, rng, known, again=repeats(study))
            if point is None:
                return Batch(tuple(found), all_tried(study))
            known.add(point)
            found.append(Suggestion(point, Explanation(Reason.RANDOM, "drawn at random")))
        return Batch(tuple(found))


_SUGGESTING = 5
"""Counts the changes after which the same model, trials and seed give another point."""


def designer(config: StudyConfig, model: Model | None = None) -> Designer:
    """Returns the designer of a study; ``model`` is for the Bayesian search alone."""
    match config.algorithm:
        case Algorithm.BAYESIAN:
            return BayesianSearch(model)
        case Algorithm.GRID:
            return GridSearch()
        case Algorithm.RANDOM:
            return RandomSearch()
        case _:
            assert_never(config.algorithm)


def version() -> str:
    """Returns the versions that decide suggestions: ``tuner 1.1, numpy 2.1.0, scipy 1.14.1``."""
    return f"tuner {VERSION}.{_SUGGESTING}, numpy {np.__version__}, scipy {scipy.__version__}"
