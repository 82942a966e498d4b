"""Chooses the designer of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import numpy as np
import scipy

from footplate.domain.studies.study import Algorithm
from footplate.tuning.bayesian.model import VERSION
from footplate.tuning.bayesian.search import BayesianSearch
from footplate.tuning.plain_searches import GridSearch, RandomSearch

if TYPE_CHECKING:
    from footplate.domain.studies.study import StudyConfig
    from footplate.tuning.bayesian.model import Model
    from footplate.tuning.designer import Designer

_SUGGESTING = 5
"""Counts the changes after which the same model, trials and seed give another point."""


def designer(config: StudyConfig, model: Model | None = None) -> Designer:
    """``model``: the one that is ``wanted`` by the schedule; only the Bayesian search has any."""
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
    """Of whatever decides what a suggestion is: ``tuner 1.1, numpy 2.1.0, scipy 1.14.1``."""
    return f"tuner {VERSION}.{_SUGGESTING}, numpy {np.__version__}, scipy {scipy.__version__}"
