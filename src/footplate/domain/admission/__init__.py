"""Which queued jobs may start, when, and why not yet. Pure."""

from footplate.domain.admission.claims import Claim
from footplate.domain.admission.desk import DEFAULT_PATIENCE_S, Desk
from footplate.domain.admission.explanation import Explanation

__all__ = ["DEFAULT_PATIENCE_S", "Claim", "Desk", "Explanation"]
