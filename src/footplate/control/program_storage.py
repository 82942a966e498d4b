"""The storage API that programs of jobs use for ``gs://``."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from footplate.control.current_attempts import current
from footplate.control.tokens import Tokens, derive

if TYPE_CHECKING:
    from footplate.control.tokens import Bearer
    from footplate.domain.jobs import Job
    from footplate.ports.store import Store

PATH = "/programs"
"""Where in the server's URLs programs find the storage API, each under a key of its own."""
_LEADING = ("STORAGE_EMULATOR_HOST", "CLOUD_STORAGE_EMULATOR_ENDPOINT")
"""Lead there: Google's client for Python, and gcsfs; Google's client for C++, which pyarrow has."""
_PROXY = "FOOTPLATE_GS_PROXY"
"""Leads there: TensorFlow's own ``gs://``, by the hook that the supervisor puts before programs."""
_SMOOTHING = ("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
"""Else gcsfs asks Google over gRPC what kind each bucket is of."""
_TOOLS = (
    ("CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"),
    ("CLOUDSDK_CORE_ACCOUNT", "program@footplate.invalid"),  # gsutil drops the token without one
    ("CLOUDSDK_CORE_CHECK_GCE_METADATA", "false"),
    ("CLOUDSDK_CORE_DISABLE_PROMPTS", "true"),
    ("CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"),
    ("NO_GCE_CHECK", "true"),
)
"""With them gcloud, and gsutil by it, ask for no credentials and call nobody else."""
PROXY_USER = "program"
_TOOLS_ADDRESS = "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"
_TOOLS_TOKEN = "CLOUDSDK_AUTH_ACCESS_TOKEN"  # noqa: S105  the variable's name
"""gcloud uploads at the root of the server, whatever the path of its address: the key is its token
then, which opens the storage API there.
"""
UNREACHABLE = (
    ("CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true"),
    (_TOOLS_ADDRESS, "no Cloud Storage in a network namespace: open /gcs/BUCKET/OBJECT"),
    *_TOOLS,
)
"""For programs in a network namespace: gcloud and gsutil end at once, and quote the first value."""


class ProgramStorage:
    """Creates a storage URL for each start of a replica, and authorises requests to it.

    The address is a key, to nothing but those buckets that programs can open as files anyway. It
    is good as long as that start of the replica is the current one.
    """

    def __init__(
        self,
        store: Store,
        secret: bytes,
        url: str,
        proxy_port: int | None = None,
    ) -> None:
        """``url`` is that of the server, as programs of this machine reach it."""
        self._store = store
        self._keys = Tokens(derive(secret, "programs' storage"))
        self._url = url
        self._proxy_port = proxy_port

    def variables(self, bearer: Bearer, relay: str = "") -> tuple[tuple[str, str], ...]:
        """Of the program's environment.

        ``relay`` is where a program on another machine reaches the server, and its proxy.
        """
        key = self._keys.issue(bearer)
        url = relay or self._url
        leading = ((name, f"{url}{self.path(bearer)}") for name in _LEADING)
        tools = ((_TOOLS_ADDRESS, f"{url}/"), (_TOOLS_TOKEN, key), *_TOOLS)
        return *leading, *self._proxy(key, relay), _SMOOTHING, *tools

    def path(self, bearer: Bearer) -> str:
        """Of the storage API on this server, with the key."""
        return f"{PATH}/{self._keys.issue(bearer)}"

    def _proxy(self, key: str, relay: str) -> tuple[tuple[str, str], ...]:
        """The proxy with the key as its password; nothing where the server has none."""
        port = self._proxy_port
        if port is None:
            return ()
        url, port = (relay, urlsplit(relay).port or 0) if relay else (self._url, port)
        return ((_PROXY, make_address(url, port, f"{PROXY_USER}:{key}")),)

    def check(self, key: str) -> Job:
        """The job whose key it is. Raises what ``Tokens.check`` and ``current`` raise."""
        return current(self._store, self._keys.check(key))


def make_address(url: str, port: int, user: str = "") -> str:
    """Of the proxy of the server at ``url``."""
    host = urlsplit(url).hostname or ""
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return f"http://{user}@{place}" if user else f"http://{place}"
