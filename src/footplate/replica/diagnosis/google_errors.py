"""Advice about Google's products that aren't here, and about credentials."""

from __future__ import annotations

import re

from footplate.domain.google_products import explain_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_HOST = re.compile(r"[a-z0-9-][a-z0-9.-]{0,100}\.(?:googleapis\.com|pkg\.dev|gcr\.io)\b")


def advise_on_google(cause: str, _facts: ReplicaFacts) -> str:
    """Explains a host of Google, unless this service worded the cause and explained it."""
    host = _HOST.search(cause)
    if host is None:
        return ""
    explained = explain_host(host.group()) or ""
    return "" if explained.partition(". ")[0] in cause else explained
