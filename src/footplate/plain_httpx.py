"""httpx as without its extra ``cli``: rich and pygments take two thirds of its import's time."""

from __future__ import annotations

import sys

__all__ = ["httpx"]

_FIRST = "httpx" not in sys.modules
if _FIRST:
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # its import fails, as documented
import httpx  # noqa: E402

if _FIRST:
    del sys.modules["httpx._main"]
