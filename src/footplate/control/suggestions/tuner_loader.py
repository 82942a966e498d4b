"""Loads the tuner at first use, because NumPy and SciPy take a second and 60 MB.

Its matrices are small: threads of the linear algebra library would only wait for each other.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.control.suggestions import tuner_functions

_THREADS = "OPENBLAS_NUM_THREADS"
_loading = Lock()
"""Two at once would take each other's setting for the one that was there before."""


def load() -> type[tuner_functions.Tuner]:
    with _loading:
        return _load()


@cache
def _load() -> type[tuner_functions.Tuner]:
    """Loads the tuner with a variable set that limits NumPy's threads: it is read only now."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        module = importlib.import_module("footplate.control.suggestions.tuner_functions")
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before
    tuner: type[tuner_functions.Tuner] = module.Tuner
    return tuner
