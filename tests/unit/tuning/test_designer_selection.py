"""The designer of each algorithm."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.parameters import IntegerParameter
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import Algorithm, Study, StudyConfig
from footplate.tuning.designer import Reason
from footplate.tuning.designer_selection import designer, version

SPACE = SearchSpace((IntegerParameter("i", 0, 30),))


@pytest.mark.parametrize(
    ("algorithm", "reason"),
    [
        (Algorithm.BAYESIAN, Reason.INITIAL),
        (Algorithm.GRID, Reason.GRID),
        (Algorithm.RANDOM, Reason.RANDOM),
    ],
)
def test_a_study_gets_what_it_asks_for(algorithm: Algorithm, reason: Reason) -> None:
    config = StudyConfig(SPACE, (Metric("m"),), algorithm)
    batch = designer(config).suggest(Study(config), 1, seed=0)
    assert [one.why.reason for one in batch.suggestions] == [reason]


def test_the_version_names_the_libraries_too() -> None:
    assert version().startswith("tuner ")
    assert version().endswith(f"numpy {np.__version__}, scipy {scipy.__version__}")
