"""The label that names the earlier search a tuning job learns from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe

LABEL = "footplate-learn-from"
"""Its value is the id of an earlier tuning job, or study, of the same project and region.

Labels hold no capital letters, so jobs whose ids have some can't be named.
"""


def learned_from(labels: Mapping[str, str] | None) -> str | None:
    """Returns the id in the label; None: there is none."""
    return (labels or {}).get(LABEL) or None


def check_learning(labels: Mapping[str, str] | None, own: str = "") -> Iterator[Violation]:
    """Yields faults of the label; ``own`` is the id of the job itself, if the request has it."""
    given = (labels or {}).get(LABEL)
    if given is None:
        return
    allowed = "allowed: the id of an earlier tuning job or study"
    if not given:
        yield Violation(f"labels.{LABEL}", f"nothing given; {allowed}")
    elif given == own:
        yield Violation(
            f"labels.{LABEL}", f"{describe(given)} given, the id of this job; {allowed}"
        )
