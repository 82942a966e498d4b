"""The storage API that programs of jobs use for ``gs://``."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from footplate.control.current_attempts import current
from footplate.control.tokens import Bearer, Tokens, derive
from footplate.domain.jobs import Job
from footplate.ports.store import Store

PATH = "/programs"
"""Where in the server's URLs programs find the storage API, each under a key of its own."""
_LEADING = ("STORAGE_EMULATOR_HOST", "CLOUD_STORAGE_EMULATOR_ENDPOINT")
"""Lead there: Google's client for Python, and gcsfs; Google's client for C++, which pyarrow has."""
_PROXY = "FOOTPLATE_GS_PROXY"
"""Leads there: TensorFlow's own ``gs://``, by the hook that the supervisor puts before programs."""
_METADATA = ("GCE_METADATA_HOST", "GCE_METADATA_IP", "GCE_METADATA_ROOT")
"""Lead there, without ``http://``: Google's libraries of nearly all languages, and gcloud, which
look for the metadata server. Of those of Node alone the path is dropped.
"""
_NODE = ("METADATA_SERVER_DETECTION", "none")
"""So that they don't ask this server in vain."""
_SMOOTHING = ("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
"""Else gcsfs asks Google over gRPC what kind each bucket is of."""
_TOOLS = (
    ("CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"),
    ("CLOUDSDK_CORE_DISABLE_PROMPTS", "true"),
    ("CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"),
)
"""Settings by which gcloud, and gsutil by it, ask nothing and call nobody else."""
PROXY_USER = "program"
_TOOLS_ADDRESSES = "CLOUDSDK_API_ENDPOINT_OVERRIDES_"
_TOOLS_TOKEN = "CLOUDSDK_AUTH_ACCESS_TOKEN"  # noqa: S105  the variable's name
"""gcloud uploads at the root of the server, whatever the path of its address: the key is its token
then, which opens the storage API there.
"""
_SERVED_TOOLS = ("AIPLATFORM", "CLOUDRESOURCEMANAGER", "LOGGING", "ML", "SERVICEUSAGE")
"""What gcloud calls here, where the program may call the API; else the answer says why not."""
_REFUSED_TOOLS = (
    *("ARTIFACTREGISTRY", "BIGQUERY", "CLOUDBUILD", "CLOUDKMS", "COMPUTE", "CONTAINER", "DATAFLOW"),
    *("DATAPROC", "FIRESTORE", "IAM", "MONITORING", "PUBSUB", "RUN", "SECRETMANAGER", "SPANNER"),
)
"""Else gcloud asks Google, or where there is no way to it tries for half a minute."""


class ProgramStorage:
    """Creates a storage URL for each start of a replica, and authorises requests to it.

    The URL contains a key, which opens only the buckets that programs can open as files anyway. It
    is valid as long as that start of the replica is the current one.
    """

    def __init__(
        self,
        store: Store,
        secret: bytes,
        url: str,
        proxy_port: int | None = None,
    ) -> None:
        """Stores the addresses; ``url`` is the server's, as programs of this machine reach it."""
        self._store = store
        self._keys = Tokens(derive(secret, "programs' storage"))
        self._url = url
        self._proxy_port = proxy_port

    def variables(self, bearer: Bearer, relay: str = "") -> tuple[tuple[str, str], ...]:
        """Returns the variables that point a program to its storage.

        ``relay`` is the address at which a program on another machine reaches the server and its
        proxy.
        """
        key = self._keys.issue(bearer)
        url = relay or self._url
        address = f"{url}{self.path(bearer)}"
        leading = ((name, address) for name in _LEADING)
        metadata = ((name, address.partition("://")[2]) for name in _METADATA)
        tools = (*_lead_tools(url), (_TOOLS_TOKEN, key), *_TOOLS)
        return *leading, *metadata, _NODE, *self._proxy(key, relay), _SMOOTHING, *tools

    def path(self, bearer: Bearer) -> str:
        """Returns the path of the storage API on this server, with the key."""
        return f"{PATH}/{self._keys.issue(bearer)}"

    def _proxy(self, key: str, relay: str) -> tuple[tuple[str, str], ...]:
        """Returns the variable for the proxy, with the key as password; nothing without one."""
        port = self._proxy_port
        if port is None:
            return ()
        url, port = (relay, urlsplit(relay).port or 0) if relay else (self._url, port)
        return ((_PROXY, make_address(url, port, f"{PROXY_USER}:{key}")),)

    def bearer(self, key: str) -> Bearer:
        """Returns the owner of a key, even if the key has expired. Raises PermissionDenied."""
        return self._keys.check(key)

    def check(self, key: str) -> Job:
        """Returns the job of a key. Raises what ``find`` raises."""
        return self.find(key)[0]

    def find(self, key: str) -> tuple[Job, Bearer]:
        """Returns the job, and the start of a replica, to which a key belongs.

        Raises what ``Tokens.check`` and ``current`` raise.
        """
        bearer = self._keys.check(key)
        return current(self._store, bearer), bearer


def _lead_tools(url: str) -> Iterator[tuple[str, str]]:
    for name in ("STORAGE", *_SERVED_TOOLS):
        yield f"{_TOOLS_ADDRESSES}{name}", f"{url}/"
    for name in _REFUSED_TOOLS:
        yield f"{_TOOLS_ADDRESSES}{name}", f"{url}{PATH}/-/{name.lower()}.googleapis.com/"


def make_address(url: str, port: int, user: str = "") -> str:
    """Returns the address of the proxy on the server at ``url``."""
    host = urlsplit(url).hostname or ""
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return f"http://{user}@{place}" if user else f"http://{place}"
