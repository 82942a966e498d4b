"""Studies of Vizier, whose trials clients run themselves."""

from footplate.control.vizier.service import Vizier
from footplate.control.vizier.stopping import EarlyStop
from footplate.control.vizier.studies import Studies
from footplate.control.vizier.suggestions import Suggesting
from footplate.control.vizier.trials import StudyTrials

__all__ = ["EarlyStop", "Studies", "StudyTrials", "Suggesting", "Vizier"]
