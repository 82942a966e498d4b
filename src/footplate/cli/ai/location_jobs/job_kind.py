"""The kinds of jobs in a location."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from footplate.cli.lists.server_filter import States
from footplate.domain.names import CustomJobName, TuningJobName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from footplate.cli.session import Session
    from footplate.client.jobs import LocatedJobs
    from footplate.client.service import Service

N = TypeVar("N", CustomJobName, TuningJobName)

EXAMPLE_ID = "1234567890123456789"

_PREFIX = "JOB_STATE_"
STATES = States(
    tuple(
        f"{_PREFIX}{name}"
        for name in (
            *("UNSPECIFIED", "QUEUED", "PENDING", "RUNNING", "SUCCEEDED", "FAILED"),
            *("CANCELLING", "CANCELLED", "PAUSED", "EXPIRED", "UPDATING", "PARTIALLY_SUCCEEDED"),
        )
    ),
    _PREFIX,
)
"""Those of aiplatform v1; jobs here are in some of them only."""


@dataclass(frozen=True)
class Kind(Generic[N]):
    """``metavar``: how help texts call the id of one. ``columns`` are those of its table."""

    group: str
    metavar: str
    columns: Mapping[str, str]
    name: Callable[[Session, str, str], N]
    """Of what a command line says, and a region."""
    jobs: Callable[[Service], LocatedJobs[N]]
    has_trials: bool = False

    def help(self, text: str, verb: str, *examples: str) -> str:
        """``text`` with examples, each of them what follows ``footplate ai GROUP VERB``."""
        command = f"footplate ai {self.group} {verb}"
        lines = [f"{command} {example}".rstrip() for example in examples]
        title = "Examples" if len(lines) > 1 else "Example"
        shown = "\n".join(f"  {line}" for line in lines)
        return f"{text}\n\n\b\n{title}:\n{shown}\n"
