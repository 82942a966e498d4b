"""Apptainer as it is installed here: ``tools/install_apptainer.sh`` does that."""

from __future__ import annotations

import shutil

import pytest


def require_apptainer() -> None:
    """Skip the test without it: `make machine` installs it where Debian's next release is had."""
    if shutil.which("apptainer") is None:
        pytest.skip("needs Apptainer: tools/install_apptainer.sh")
