"""Models where trials fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr

from footplate.tuning.gaussian.posterior import Posterior

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats
    from footplate.tuning.bayesian.observations import Observations
    from footplate.tuning.encoding import Encoding
    from footplate.tuning.gaussian.hyperparameters import Hyperparameters

_FAILED = -2.0
"""The label of a failed trial; the others, and whatever is unknown, have 0."""
_BLUR = 0.1
"""The least variance of a label: no border is sharp."""
_AVERSION = 10.0
"""What is more likely to fail than to work is avoided so much more: else it would draw the search
as soon as the rest is well known."""


def labels(seen: Observations) -> tuple[Floats, Floats]:
    """All rows with an end, and what a model of feasibility is fitted to."""
    rows = np.vstack([seen.rows, seen.infeasible])
    found = np.zeros(len(rows))
    found[len(seen.rows) :] = _FAILED
    return rows, found


class Feasibility:
    """``hyperparameters``: None where no trial has failed."""

    def __init__(
        self, encoding: Encoding, hyperparameters: Hyperparameters | None, seen: Observations
    ) -> None:
        self._posterior: Posterior | None = None
        if hyperparameters is not None and len(seen.infeasible):
            nothing = encoding.rows([])
            self._posterior = Posterior(encoding, hyperparameters, *labels(seen), nothing)

    def worth(self, rows: Floats) -> Floats:
        """To add to the worth of rows: 0 for those that surely work."""
        if self._posterior is None:
            return np.zeros(len(rows))
        mean, spread = self._posterior.predict(rows)
        likely = log_ndtr((mean - _FAILED / 2.0) / np.sqrt(_BLUR + spread**2))
        return np.asarray(likely + _AVERSION * np.minimum(0.0, likely - np.log(0.5)))
