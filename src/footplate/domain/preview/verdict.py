"""The result of validating a job."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.errors import Violation
from footplate.domain.preview.parity import Parity
from footplate.domain.preview.plan import Plan


@dataclass(frozen=True)
class Outlook:
    """The prospect of a start: at once, or else the ``place`` in the queue and the reason."""

    starts_now: bool
    place: int = 0
    text: str = ""


@dataclass(frozen=True)
class Verdict:
    """The result of validating a job; ``plan`` and ``queue`` are set for accepted jobs."""

    violations: tuple[Violation, ...]
    warnings: tuple[str, ...]
    parity: Parity
    refusal: str | None = None
    """Why a submit refuses a valid job: its name, its size, a quota, what can't run here."""
    plan: Plan | None = None
    queue: Outlook | None = None

    @property
    def accepted(self) -> bool:
        """Returns whether a submit of the job would succeed."""
        return not self.violations and self.refusal is None
