"""Environment variables under which a program in any language uses the service's proxy."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from footplate.cli.environment_variables import (
    LAUNCH,
    LOOPBACK,
    ROOTS,
    SECRETS,
    cached,
    digest,
    google_variables,
    stand_in,
)
from footplate.cli.fake_credentials import write_once
from footplate.cli.trust_stores import java_key_store, machine_roots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from footplate.cli.session import Target
    from footplate.client.service import Service
    from footplate.wire.json_text import JsonObject

TOKENS = "https://oauth2.googleapis.com"
"""Where the made-up account's key is exchanged: through the proxy."""
PROXIES = (
    *("http_proxy", "https_proxy", "all_proxy", "grpc_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
)
NO_PROXIES = ("no_proxy", "NO_PROXY", "no_grpc_proxy")
TRUSTING = (
    *("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"),  # SSL_CERT_FILE: OpenSSL, Go, Rust
    *("HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "NODE_EXTRA_CA_CERTS"),
    *("GIT_SSL_CAINFO", "PIP_CERT", ROOTS),
)
PYTHON_PATH = "PYTHONPATH"
_OVERRIDES = "CLOUDSDK_API_ENDPOINT_OVERRIDES_"
_EMULATORS = ("STORAGE_EMULATOR_HOST", "CLOUD_STORAGE_EMULATOR_ENDPOINT")


@dataclass(frozen=True)
class ProxyTarget:
    """``authority`` is the certificate in PEM that clients have to trust."""

    host: str
    port: int
    authority: str


def find_proxy(service: Service, health: JsonObject) -> ProxyTarget | None:
    """None: the server has none. ``health`` is what it says of itself."""
    port = health.get("proxyPort")
    if not isinstance(port, int):
        return None
    host = urlsplit(service.url).hostname or "localhost"
    return ProxyTarget(host, port, service.certificate_authority())


def proxy_variables(
    target: Target,
    project: str,
    region: str,
    proxy: ProxyTarget,
    allowed: Sequence[str],
    environ: Mapping[str, str],
) -> dict[str, str]:
    """``allowed``: hosts that programs reach without the proxy, whom they then have to trust."""
    trusted = proxy.authority + (machine_roots() if allowed else "")
    roots = cached(f"roots-{digest(trusted)}.pem", environ)
    write_once(roots, trusted)
    own = urlsplit(target.url).hostname or LOOPBACK[0]
    beside = ",".join(dict.fromkeys((*LOOPBACK, "::1", own, *allowed)))
    return {
        **_google(target, project, region, stand_in(TOKENS, project, environ)),
        **_gcloud(proxy, target.token),
        **dict.fromkeys(PROXIES, _address(proxy, target.token)),
        **dict.fromkeys(NO_PROXIES, beside),
        **dict.fromkeys(TRUSTING, str(roots)),
        "JAVA_TOOL_OPTIONS": _java_options(proxy, trusted, (own, *allowed), environ),
        **_guard(target, proxy, allowed, environ),
        "GOOGLE_AUTH_TOKEN_FOR_TESTING": "footplate",  # TensorFlow looks for credentials without it
        "NODE_USE_ENV_PROXY": "1",  # Node's own clients, from version 24 on
    }


def launch_by_proxy(
    variables: Mapping[str, str], target: Target, environ: Mapping[str, str]
) -> dict[str, str]:
    """The whole environment of a program under ``footplate run``."""
    kept = {name: value for name, value in environ.items() if name not in SECRETS}
    token = {"FOOTPLATE_TOKEN": target.token} if target.token else {}
    return {**kept, **variables, **token, "FOOTPLATE_URL": target.url}


def _guard(
    target: Target, proxy: ProxyTarget, allowed: Sequence[str], environ: Mapping[str, str]
) -> dict[str, str]:
    """For Python, which is kept from Google's hosts where a client ignores the proxy, too."""
    return {
        "FOOTPLATE_RUN_ALLOWED": ",".join(allowed),
        "FOOTPLATE_RUN_PROXY": f"{proxy.host}:{proxy.port}",
        "FOOTPLATE_RUN_URL": target.url,
        PYTHON_PATH: os.pathsep.join([str(LAUNCH), *python_path(environ)]),
    }


def python_path(environ: Mapping[str, str]) -> list[str]:
    """``PYTHONPATH`` without the guard's folder."""
    parts = environ.get(PYTHON_PATH, "").split(os.pathsep)
    return [part for part in parts if part and part != str(LAUNCH)]


def _google(target: Target, project: str, region: str, account: Path) -> dict[str, str]:
    """Without what leads gcloud elsewhere than the names that the proxy answers for."""
    left_out: tuple[str, ...] = ("CLOUDSDK_AUTH_ACCESS_TOKEN",)
    if target.token:  # clients send no token there, and the proxy does it for them
        left_out += _EMULATORS
    return {
        name: value
        for name, value in google_variables(target, project, region, account).items()
        if not name.startswith(_OVERRIDES) and name not in left_out
    }


def _gcloud(proxy: ProxyTarget, token: str | None) -> dict[str, str]:
    found = {
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_PROXY_ADDRESS": proxy.host,
        "CLOUDSDK_PROXY_PORT": str(proxy.port),
        "CLOUDSDK_PROXY_TYPE": "http",
    }
    if token:
        # gcloud makes an address of it, and encodes no slashes in that.
        encoded = quote(token, safe="")
        found |= {"CLOUDSDK_PROXY_USERNAME": "footplate", "CLOUDSDK_PROXY_PASSWORD": encoded}
    return found


def _address(proxy: ProxyTarget, token: str | None) -> str:
    host = f"[{proxy.host}]" if ":" in proxy.host else proxy.host
    credentials = f"footplate:{quote(token, safe='')}@" if token else ""
    return f"http://{credentials}{host}:{proxy.port}"


def _java_options(
    proxy: ProxyTarget, trusted: str, beside: Sequence[str], environ: Mapping[str, str]
) -> str:
    store = cached(f"roots-{digest(trusted)}.jks", environ)
    write_once(store, java_key_store(trusted))
    direct = "|".join(dict.fromkeys(("localhost", "127.*", "[::1]", *beside)))
    options = {
        "javax.net.ssl.trustStore": str(store),
        "javax.net.ssl.trustStoreType": "JKS",
        "http.proxyHost": proxy.host,
        "http.proxyPort": str(proxy.port),
        "https.proxyHost": proxy.host,
        "https.proxyPort": str(proxy.port),
        "http.nonProxyHosts": direct,
    }
    before = environ.get("JAVA_TOOL_OPTIONS", "").split()
    kept = [word for word in before if not word.startswith(tuple(f"-D{name}=" for name in options))]
    given = (f"-D{name}={value}" for name, value in options.items())
    return " ".join([*kept, *(f'"{word}"' if " " in word else word for word in given)])
