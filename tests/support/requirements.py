"""What a test needs of its machine: without it the test is skipped, and in CI it fails."""

from __future__ import annotations

import os

import pytest


def require(missing: str | None) -> None:
    """``missing`` says what there isn't; None: nothing is missing."""
    if missing is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)


def require_view(*, seen: bool) -> None:
    """``seen``: whether the program found a file system of its own."""
    require(None if seen else "this machine has no mount namespaces")
