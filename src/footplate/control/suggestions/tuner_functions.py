"""The tuner's functions that suggestions need. Import it only through the loader."""

from __future__ import annotations

from footplate.domain.studies.study import Algorithm, Study, StudyConfig
from footplate.tuning.bayesian.model import Model, lineage, model_from_record, newest, wanted
from footplate.tuning.bayesian.model_fit import refit
from footplate.tuning.bayesian.observations import finished_count
from footplate.tuning.designer import Batch
from footplate.tuning.designer_selection import designer, version
from footplate.tuning.stopping.replay import replay
from footplate.tuning.stopping.rule import stopping_rule


class Tuner:
    """The functions of :mod:`footplate.tuning` that suggestions need, in one class."""

    version = staticmethod(version)
    refit = staticmethod(refit)
    stopping_rule = staticmethod(stopping_rule)
    replay = staticmethod(replay)
    model_from_record = staticmethod(model_from_record)

    @staticmethod
    def suggest(study: Study, count: int, seed: int, model: Model | None) -> Batch:
        return designer(study.config, model).suggest(study, count, seed)

    @staticmethod
    def has_models(config: StudyConfig) -> bool:
        return config.algorithm is Algorithm.BAYESIAN

    @staticmethod
    def chain(study: Study, count: int) -> list[int]:
        """Returns the counts of the models on which model ``count`` is based, oldest first.

        ``study`` is given without its own trials.
        """
        return lineage(count, finished_count(study))

    @staticmethod
    def wanted(study: Study, ended: int) -> int:
        return wanted(ended, finished_count(study))

    @staticmethod
    def newest(study: Study, ended: int) -> int:
        return newest(ended, finished_count(study))
