"""Environment variables that point Google's tools to Footplate."""

from __future__ import annotations

import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from footplate.cli.fake_credentials import write_account, write_once

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.cli.session import Target
    from footplate.client.service import Service
    from footplate.wire.json_text import JsonObject

LAUNCH = Path(__file__).with_name("launch")
"""Goes onto PYTHONPATH."""

UNREACHABLE_ADDRESS = "127.0.0.1:1"
"""Nobody listens there: a metadata server that gives no tokens."""

LOOPBACK = ("127.0.0.1", "localhost")
GOOGLE = (".googleapis.com", "googleapis.com", "accounts.google.com", "metadata.google.internal")

SECRETS = (
    "CLOUDSDK_AUTH_ACCESS_TOKEN",
    "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE",
    "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE",
    "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT",
    "GEMINI_API_KEY",
    "GOOGLE_API_CERTIFICATE_CONFIG",
    "GOOGLE_API_KEY",
    "GOOGLE_CLOUD_QUOTA_PROJECT",
    "GOOGLE_CLOUD_UNIVERSE_DOMAIN",
    "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",
    "GOOGLE_OAUTH_ACCESS_TOKEN",
)
"""Real credentials, and what leads to them: taken out of a program's environment."""

APIS = ("AIPLATFORM", "CLOUDRESOURCEMANAGER", "LOGGING", "ML", "SERVICEUSAGE", "STORAGE")
"""gcloud's names of those that it is to call at the service."""

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


ROOTS = "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"
"""Whom gRPC trusts, in any language."""


@dataclass(frozen=True)
class GrpcTarget:
    """``address`` is ``HOST:PORT``; ``authority``, the file with whom clients have to trust."""

    address: str
    authority: Path


def google_variables(
    target: Target, project: str, region: str, account: Path, grpc: GrpcTarget | None = None
) -> dict[str, str]:
    """For gcloud and every client that has a variable for where it goes."""
    found = {f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{api}": f"{target.url}/" for api in APIS}
    if target.token:
        found["CLOUDSDK_AUTH_ACCESS_TOKEN"] = target.token
    else:
        found["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] = "true"
    if grpc is not None:
        found[ROOTS] = str(grpc.authority)
    return {
        **found,
        "CLOUDSDK_AI_REGION": region,
        "CLOUDSDK_COMPUTE_REGION": region,
        # Of models only, which gcloud asks for at REGION-ENDPOINT, and breaks where that isn't.
        "CLOUDSDK_AI_PLATFORM_REGION": "global",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_CORE_PROJECT": project,
        "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL": "2",  # seconds; stream-logs would ask once a minute
        "CLOUD_STORAGE_EMULATOR_ENDPOINT": target.url,
        "GCE_METADATA_HOST": UNREACHABLE_ADDRESS,
        "GCE_METADATA_IP": UNREACHABLE_ADDRESS,
        "GCE_METADATA_ROOT": UNREACHABLE_ADDRESS,
        "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",  # else gcsfs asks each bucket over gRPC
        "GOOGLE_API_USE_CLIENT_CERTIFICATE": "false",
        "GOOGLE_API_USE_MTLS_ENDPOINT": "never",
        "GOOGLE_APPLICATION_CREDENTIALS": str(account),
        "GOOGLE_CLOUD_PROJECT": project,
        "METADATA_SERVER_DETECTION": "none",
        "NO_GCE_CHECK": "true",
        "STORAGE_EMULATOR_HOST": target.url,
    }


def launch_variables(
    target: Target,
    project: str,
    region: str,
    account: Path,
    grpc: GrpcTarget | None,
    environ: Mapping[str, str],
) -> dict[str, str]:
    """The whole environment of a program under ``footplate run``."""
    kept = {name: value for name, value in environ.items() if name not in SECRETS}
    kept.pop("CLOUDSDK_AUTH_DISABLE_CREDENTIALS", None)
    path = [str(LAUNCH), *(part for part in [environ.get("PYTHONPATH", "")] if part)]
    token = {"FOOTPLATE_TOKEN": target.token} if target.token else {}
    kept.pop("FOOTPLATE_RUN_GRPC", None)
    grpc_variables = {"FOOTPLATE_RUN_GRPC": grpc.address} if grpc is not None else {}
    return {
        **kept,
        ROOTS: str(LAUNCH / "nobody.pem"),
        **google_variables(target, project, region, account, grpc),
        **grpc_variables,
        **token,
        **no_proxy(environ, (*LOOPBACK, *GOOGLE)),
        "FOOTPLATE_RUN_URL": target.url,
        "FOOTPLATE_URL": target.url,
        "PYTHONPATH": os.pathsep.join(path),
    }


def no_proxy(environ: Mapping[str, str], hosts: tuple[str, ...]) -> dict[str, str]:
    """NO_PROXY with ``hosts`` added, in both spellings: a proxy hides where a call leads to."""
    before = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    known = [part.strip() for part in before.split(",") if part.strip()]
    value = ",".join([*known, *(host for host in hosts if host not in known)])
    return {"NO_PROXY": value, "no_proxy": value}


def has_proxy(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name) for name in _PROXIES)


def stand_in(url: str, project: str, environ: Mapping[str, str]) -> Path:
    """The made-up service account for this server and project, in the user's cache."""
    path = cached(f"account-{digest(f'{url} {project}')}.json", environ)
    write_account(path, url, project, secrets.randbits)
    return path


def find_grpc(
    service: Service, health: JsonObject, environ: Mapping[str, str]
) -> GrpcTarget | None:
    """Where the server serves gRPC, its authority in a file of the cache; None: it doesn't.

    ``health`` is what the server says of itself.

    Raises a ServiceError: the server doesn't answer.
    """
    port = health.get("grpcPort")
    if not isinstance(port, int):
        return None
    certificate = service.certificate_authority()
    path = cached(f"authority-{digest(certificate)}.pem", environ)
    write_once(path, certificate)
    host = urlsplit(service.url).hostname or "localhost"
    return GrpcTarget(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", path)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cached(name: str, environ: Mapping[str, str]) -> Path:
    cache = Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return cache / "footplate" / "launch" / name
