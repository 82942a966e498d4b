"""Advice about Google's products that aren't here, and about credentials."""

from __future__ import annotations

import re

from footplate.domain.google_products import explain_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_HOST = re.compile(r"[a-z0-9-][a-z0-9.-]{0,100}\.(?:googleapis\.com|pkg\.dev|gcr\.io)\b")
_NO_CREDENTIALS = re.compile(r"DefaultCredentialsError|default credentials were not found")
_METADATA = "GCE_METADATA_HOST"


def advise_on_google(cause: str, facts: ReplicaFacts) -> str:
    """What a cause that this service worded says itself isn't said again."""
    host = _HOST.search(cause)
    if host is not None:
        explained = explain_host(host.group()) or ""
        return "" if explained.partition(". ")[0] in cause else explained
    if _NO_CREDENTIALS.search(cause) and _METADATA not in facts.variables:
        return (
            "There is no metadata server in a network namespace, and so there are no credentials. "
            "Open files at /gcs/BUCKET, or give the job credentials of its own "
            "(GOOGLE_APPLICATION_CREDENTIALS)"
        )
    return ""
