"""The Vizier service."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.control.vizier.early_stopping import EarlyStop
from footplate.control.vizier.studies import Studies
from footplate.control.vizier.suggestions import Suggesting
from footplate.control.vizier.trials import StudyTrials


@dataclass(frozen=True)
class Vizier:
    studies: Studies
    trials: StudyTrials
    suggesting: Suggesting
    stopping: EarlyStop
