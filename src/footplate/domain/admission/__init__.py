"""Admission: which queued jobs may start, when, and why the others wait. Pure."""

from footplate.domain.admission.claims import Claim
from footplate.domain.admission.messages import Explanation
from footplate.domain.admission.scheduler import Scheduler

__all__ = ["Claim", "Explanation", "Scheduler"]
