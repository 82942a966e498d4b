"""httpx without its command-line program, which imports rich and pygments and takes 0.2 s."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType


def import_httpx() -> ModuleType:
    """httpx imports the module of its program, and only takes ``main`` from it."""
    if "httpx" in sys.modules:
        return sys.modules["httpx"]
    program = ModuleType("httpx._main")
    program.__dict__["main"] = _no_program
    sys.modules[program.__name__] = program
    try:
        return importlib.import_module("httpx")
    finally:
        del sys.modules[program.__name__]


def _no_program() -> None:
    raise NotImplementedError("httpx was imported without its command-line program")
