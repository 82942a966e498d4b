"""The real gcloud, for tests that talk to it."""

from __future__ import annotations

import shutil

from tests.support.requirements import require


def find_gcloud() -> str:
    """Its path. Without it the test that asks is skipped, and in CI it fails."""
    program = shutil.which("gcloud")
    require("needs gcloud: install the Google Cloud CLI" if program is None else None)
    assert program is not None
    return program
