"""How much the tests try: the profile is in ``TEST_PROFILE``, ``ci`` unless it is set.

Hypothesis takes the profile of this name. A test that has a count of its own, of examples, lives
or kills, takes it through ``scaled``; one that draws numbers itself takes them from ``seeded``.
"""

from __future__ import annotations

import os
import random
import secrets

from hypothesis import settings

SCALES = {"quick": 0.2, "ci": 1.0, "soak": 50.0}
_EXAMPLES = 100
"""Hypothesis's own default."""

NAME = os.environ.get("TEST_PROFILE", "ci")
_SEED = int(os.environ.get("TEST_SEED", secrets.randbits(32) if NAME == "soak" else 0))


def load_profile() -> None:
    """Without deadlines: a busy machine fails no test. All but ``soak`` try the same each time.

    They keep no database either: the next run would first try what this one found.
    """
    common = settings(deadline=None, max_examples=scaled(_EXAMPLES), print_blob=True)
    if NAME != "soak":
        common = settings(common, derandomize=True, database=None)
    settings.register_profile(NAME, common)
    settings.load_profile(NAME)


def scaled(count: int) -> int:
    """As many as the profile tries where ``ci`` tries ``count``."""
    return max(1, round(count * SCALES[NAME]))


def seeded(seed: int) -> random.Random:
    """The same numbers each time; in ``soak`` others, which the printed ``TEST_SEED`` repeats."""
    print(f"TEST_SEED={_SEED}")
    return random.Random(seed + _SEED)
