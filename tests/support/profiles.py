"""How much the tests try: the profile is in ``TEST_PROFILE``, ``ci`` unless it is set.

Hypothesis takes the profile of this name. A test that has a count of its own, of examples, lives
or kills, takes it through ``scaled``.
"""

from __future__ import annotations

import os

from hypothesis import settings

SCALES = {"quick": 0.2, "ci": 1.0, "soak": 50.0}
_EXAMPLES = 100
"""Hypothesis's own default."""

NAME = os.environ.get("TEST_PROFILE", "ci")


def load_profile() -> None:
    """Without deadlines: a busy machine fails no test. CI tries the same examples each time."""
    common = settings(deadline=None, max_examples=scaled(_EXAMPLES), print_blob=True)
    if os.environ.get("CI") == "true" and NAME != "soak":
        common = settings(common, derandomize=True, database=None)
    settings.register_profile(NAME, common)
    settings.load_profile(NAME)


def scaled(count: int) -> int:
    """As many as the profile tries where ``ci`` tries ``count``."""
    return max(1, round(count * SCALES[NAME]))
