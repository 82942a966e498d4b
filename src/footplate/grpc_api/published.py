"""Reads the methods and messages of Google's APIs that are served."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def read_published() -> Mapping[str, Any]:
    """Returns ``methods`` with their HTTP rules, ``messages`` with their fields, and ``enums``."""
    text = files("footplate.grpc_api").joinpath("schema.json").read_text("utf-8")
    document: Mapping[str, Any] = json.loads(text)
    return document
