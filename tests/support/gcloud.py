"""The real gcloud, for tests that talk to it."""

from __future__ import annotations

import os
import shutil

import pytest


def find_gcloud() -> str:
    """Its path. Without it the test that asks is skipped, and in CI it fails."""
    program = shutil.which("gcloud")
    if program is not None:
        return program
    if os.environ.get("CI"):
        pytest.fail("gcloud is not on PATH")
    pytest.skip("gcloud is not on PATH")
