"""Identifies the caller of a request, for the record of who asked for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

_KNOWN = (
    ("footplate/", "footplate"),
    ("gcloud", "gcloud"),
    ("model-builder/", "the Vertex AI SDK"),
    ("google-api-python-client", "google-api-python-client"),
    ("gapic/", "a Google client library"),
    ("mozilla/", "a browser"),
)
"""What stands in a request's words about its client, in small letters, and who that is."""
_PRODUCT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")


def name_caller(request: Request) -> str:
    """``gcloud at 127.0.0.1``: the program, by its own account, and its address."""
    headers = request.headers
    words = f"{headers.get('user-agent', '')} {headers.get('x-goog-api-client', '')}".lower()
    known = (name for mark, name in _KNOWN if mark in words)
    product = _PRODUCT.match(headers.get("user-agent", ""))
    program = next(known, None) or (product.group() if product else "a client")
    return f"{program} at {request.client.host}" if request.client else program
