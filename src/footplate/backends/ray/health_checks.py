"""Reads how long Ray takes to see that a node was cut off: settings of its head, by a job.

No call of Ray's HTTP API has them. A job inherits the environment of the head that started it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

SLOW_S = 20.0
NAMES = (
    "health_check_initial_delay_ms",
    "health_check_period_ms",
    "health_check_timeout_ms",
    "health_check_failure_threshold",
)
_MARK = "footplate-health-checks "
PROGRAM = (
    "import json; from ray._raylet import Config as c; "
    f"print({_MARK!r} + json.dumps({{n: getattr(c, n)() for n in {NAMES!r}}}))"
)
"""Ray's own view: its defaults, which versions change, and what the environment says."""
ADVICE = (
    "start the head with RAY_health_check_initial_delay_ms=1000 RAY_health_check_period_ms=1000 "
    "RAY_health_check_timeout_ms=2000 RAY_health_check_failure_threshold=3"
)


@dataclass(frozen=True)
class HealthChecks:
    period_ms: int
    timeout_ms: int
    failure_threshold: int

    @property
    def seen_after_s(self) -> float:
        """Returns after how many seconds Ray notices that a node is cut off.

        Each check lasts its timeout, and the next one follows after the period.
        """
        return self.failure_threshold * (self.period_ms + self.timeout_ms) / 1000

    @property
    def fact(self) -> str:
        return f"Ray notices a disconnected node after about {self.seen_after_s:.0f} s"

    @property
    def problem(self) -> str | None:
        return f"{self.fact}; {ADVICE}" if self.seen_after_s > SLOW_S else None


def read(output: str) -> HealthChecks | None:
    """Returns the settings in the output of PROGRAM, perhaps among other lines; or None."""
    for line in output.splitlines():
        if line.startswith(_MARK):
            try:
                found = json.loads(line[len(_MARK) :])
                return HealthChecks(*(int(found[name]) for name in NAMES[1:]))
            except (ValueError, KeyError, TypeError):
                return None
    return None
