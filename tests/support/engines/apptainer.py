"""Apptainer as it is installed here: ``tools/install_apptainer.sh`` does that."""

from __future__ import annotations

import shutil

import pytest


def require_apptainer() -> None:
    """Skip the test without it: Debian 12 has no package of it, so CI may lack it, too."""
    if shutil.which("apptainer") is None:
        pytest.skip("needs Apptainer: tools/install_apptainer.sh")
