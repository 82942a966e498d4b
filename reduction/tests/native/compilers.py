"""Whether this machine has a C++ compiler; where CI runs, it must."""

from __future__ import annotations

import os
import shutil

import pytest

needs_compiler = pytest.mark.skipif(
    os.environ.get("CI") != "true" and not any(map(shutil.which, ("c++", "g++", "clang++"))),
    reason="there is no C++ compiler",
)
