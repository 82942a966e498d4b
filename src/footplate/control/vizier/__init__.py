"""Vizier studies, whose trials are run by clients."""

from footplate.control.vizier.early_stopping import EarlyStop
from footplate.control.vizier.service import Vizier
from footplate.control.vizier.studies import Studies
from footplate.control.vizier.suggestions import Suggesting
from footplate.control.vizier.trials import StudyTrials

__all__ = ["EarlyStop", "Studies", "StudyTrials", "Suggesting", "Vizier"]
