"""A JSON document in a column.

Each says its version under ``v``; a document of an older version must stay readable for ever.
They are pure ASCII: so they hold what PostgreSQL refuses in a text (NUL) and what UTF-8 can't
say (half a surrogate pair), both of which programs do print.
"""

from __future__ import annotations

import json
from typing import Any

VERSION = 1

Json = dict[str, Any]
"""Any, because these are objects that this package alone has written."""


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
"""Made once: that takes as long as to encode a small document."""


def write(document: Json) -> str:
    """Raises ValueError for nan and infinities: JSON has none."""
    return _encode({"v": VERSION, **document})


def read(text: str) -> Json:
    """Raises ValueError for what isn't a document, or is one of a version not known here."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("v") != VERSION:
        raise ValueError(f"not a document of version {VERSION}: {text[:80]}")
    return document
