"""Lists the hosts of Google's that the proxy answers for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address

from footplate.domain.google_products import explain_host

SERVED = (
    r"(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com",  # us-central1-aiplatform.googleapis.com
    r"aiplatform\.[a-z0-9-]+\.rep\.googleapis\.com",
    r"(?:[a-z0-9-]+-)?ml\.googleapis\.com",
    r"(?:[a-z0-9._-]+\.)?storage\.googleapis\.com",  # BUCKET.storage.googleapis.com
    r"cloudresourcemanager\.googleapis\.com",
    # google-auth asks it where an account may be used, and takes a 404 for "everywhere".
    r"iamcredentials\.googleapis\.com",
    r"logging\.googleapis\.com",
    r"oauth2\.googleapis\.com",
    r"serviceusage\.googleapis\.com",
    r"www\.googleapis\.com",
    r"accounts\.google\.com",
)
METADATA = frozenset({"metadata", "metadata.google.internal", "169.254.169.254", "fd20:ce::254"})
"""Where programs on Google's machines ask for credentials: refused in words of its own."""
EXAMPLES = ("aiplatform", "ml", "storage", "logging", "oauth2", "www")
"""Examples of what is served, for messages."""
MAX_HOST = 253
_SERVED = re.compile("|".join(SERVED))
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_BUCKET_HOST = ".storage.googleapis.com"


@dataclass(frozen=True)
class ServedHost:
    """A host that the proxy answers for. ``bucket`` is set if the host's name contains a bucket,
    whose objects are at ``/``.

    ``refused`` says why each request is refused, for a Google product that this service doesn't
    have; '' if the host is served. The proxy opens a tunnel to a refused host all the same, since
    clients would retry for minutes if it didn't.
    """

    name: str
    bucket: str = ""
    refused: str = ""

    @property
    def is_storage(self) -> bool:
        return self.name.endswith("storage.googleapis.com")

    @property
    def has_logs(self) -> bool:
        return self.name == "logging.googleapis.com"

    @property
    def has_buckets(self) -> bool:
        """Returns whether the host also serves the JSON API of Cloud Storage."""
        return self.is_storage or self.name == "www.googleapis.com"


def normalize(host: str) -> str | None:
    """Returns an address, or a name in lower case without a last dot; else None."""
    name = host.lower().removesuffix(".")
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
        if ":" not in name:
            return None
    if len(name) <= MAX_HOST and _NAME.fullmatch(name):
        return name
    try:
        return str(ip_address(name))
    except ValueError:
        return None


def find_host(name: str) -> ServedHost | None:
    """Returns the host with this normalized name; None if the proxy doesn't answer for it."""
    if _SERVED.fullmatch(name) is None:
        why = explain_host(name)
        if why is None:
            return None
        out = f"`footplate run --allow-host {name} -- CMD` lets programs reach this host"
        return ServedHost(name, refused=f"{why}. {out}.")
    bucket = name.removesuffix(_BUCKET_HOST) if name.endswith(_BUCKET_HOST) else ""
    return ServedHost(name, bucket)
