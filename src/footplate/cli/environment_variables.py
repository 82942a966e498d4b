"""Environment variables under which programs in any language use the service's proxy."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
import ssl
import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from footplate.cli.defaults import LOOPBACK
from footplate.cli.fake_credentials import write_account, write_once
from footplate.cli.group import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from footplate.cli.session import Target
    from footplate.client.service import Service


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
PROXIES = (
    *("http_proxy", "https_proxy", "all_proxy", "grpc_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
)
NO_PROXIES = ("no_proxy", "NO_PROXY", "no_grpc_proxy")
TRUSTING = (
    *("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"),  # SSL_CERT_FILE: OpenSSL, Go, Rust
    *("HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "NODE_EXTRA_CA_CERTS"),
    *("GIT_SSL_CAINFO", "PIP_CERT", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"),
)
CARRYING = ("JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "PYTHONPATH")
"""What is in these of others stays there."""
_UNREACHABLE = "127.0.0.1:1"
"""Nobody listens there: a metadata server that gives no tokens."""
_TOKENS = "https://oauth2.googleapis.com"
"""Where the made-up account's key is exchanged: through the proxy."""
_USER = "footplate"
_TIMEOUT_S = 5.0
SITECUSTOMIZE = """\
import sys

if sys.version_info >= (3, 7):
    import footplate_sdk_links

    footplate_sdk_links.install()
"""
"""Any Python reads it, also those whose syntax the module is too new for."""
_SDK_LINKS = Path(__file__).with_name("sdk_links.py")
_NODE = Path(__file__).with_name("node_proxy.cjs")
_JAVA = (
    *("javax.net.ssl.trustStore", "javax.net.ssl.trustStoreType", "http.proxyHost"),
    *("http.proxyPort", "https.proxyHost", "https.proxyPort", "http.nonProxyHosts"),
)
_JAVA_OPTION = re.compile(
    r'(?<!\s)\s*(?:"-D(?:{0})=[^"]*"|-D(?:{0})=\S*)'.format("|".join(map(re.escape, _JAVA)))
)


@dataclass(frozen=True)
class ProxyTarget:
    """The server's proxy. ``authority`` is the certificate in PEM that clients must trust."""

    host: str
    port: int
    authority: str


@dataclass(frozen=True)
class Files:
    """The files that the variables name.

    ``roots`` is the only file in its folder. ``python`` is a folder with the code that rewrites
    links of Google's SDK and with PySocks, without which httplib2 (``googleapiclient``) bypasses
    the proxy.
    """

    roots: Path = Path()
    java_roots: Path = Path()
    boto: Path = Path()
    account: Path = Path()
    python: Path = Path()


def find_proxy(service: Service) -> ProxyTarget | None:
    """Returns the proxy; None if the server has none. Raises ServiceError if it doesn't answer."""
    port = service.health().get("proxyPort")
    if not isinstance(port, int):
        return None
    host = urlsplit(service.url).hostname or "localhost"
    return ProxyTarget(host, port, service.certificate_authority())


def answers(proxy: ProxyTarget) -> bool:
    """Returns whether the proxy's port can be reached; it may not be forwarded here."""
    try:
        socket.create_connection((proxy.host, proxy.port), _TIMEOUT_S).close()
    except OSError:  # whatever the reason is, it is out of reach
        return False
    return True


def write_files(
    target: Target,
    project: str,
    proxy: ProxyTarget,
    allowed: Sequence[str],
    environ: Mapping[str, str],
) -> Files:
    """Writes missing files into the user's cache; their names contain a digest of their content."""
    cache = _cache(environ)
    trusted = proxy.authority + (machine_roots() if allowed else "")
    roots = cache / f"roots-{_digest(trusted)}"
    boto = _boto_config(proxy, project, target.token, roots / "roots.pem")
    files = Files(
        roots / "roots.pem",
        roots.with_suffix(".jks"),
        cache / f"boto-{_digest(boto)}",
        cache / f"account-{_digest(project)}.json",
        _python_folder(environ),
    )
    write_once(files.roots, trusted)
    write_once(files.java_roots, java_key_store(trusted))
    write_once(files.boto, boto)
    write_account(files.account, _TOKENS, project, secrets.randbits)
    write_once(files.python / "socks.py", _pysocks())
    write_once(files.python / "footplate_sdk_links.py", _SDK_LINKS.read_text("utf-8"))
    write_once(files.python / "sitecustomize.py", SITECUSTOMIZE)
    return files


def make_variables(
    target: Target,
    project: str,
    region: str,
    proxy: ProxyTarget,
    files: Files,
    allowed: Sequence[str],
    environ: Mapping[str, str],
) -> dict[str, str]:
    """Returns the variables that lead a program to the service.

    ``allowed`` are hosts that programs reach without the proxy.
    """
    own = urlsplit(target.url).hostname or LOOPBACK[0]
    beside = tuple(dict.fromkeys((*LOOPBACK, own, *allowed)))
    before = dict(take_away(environ))
    return {
        **_google(project, region, files),
        **_gcloud(proxy, target.token),
        **_emulator(target),
        **dict.fromkeys(PROXIES, _address(proxy, target.token)),
        **dict.fromkeys(NO_PROXIES, ",".join(beside)),
        **dict.fromkeys(TRUSTING, str(files.roots)),
        "JAVA_TOOL_OPTIONS": _java_options(proxy, files, beside, before["JAVA_TOOL_OPTIONS"]),
        "NODE_OPTIONS": f"{before['NODE_OPTIONS']} {_node_options()}".strip(),
        "NODE_USE_ENV_PROXY": "1",  # from version 22.21 and 24.5 on
        "PYTHONPATH": os.pathsep.join(filter(None, (before["PYTHONPATH"], str(files.python)))),
        "SSL_CERT_DIR": str(files.roots.parent),  # or OpenSSL would trust the machine's, too
    }


def launch(
    variables: Mapping[str, str], target: Target, environ: Mapping[str, str]
) -> dict[str, str]:
    """Returns the whole environment of a program under ``footplate run``."""
    kept = {name: value for name, value in environ.items() if name not in SECRETS}
    token = {"FOOTPLATE_TOKEN": target.token} if target.token else {}
    return {**kept, **variables, **token, "FOOTPLATE_URL": target.url}


def take_away(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the variables of ``environ`` that Footplate changed, with their own values."""
    python = str(_python_folder(environ))
    paths = environ.get("PYTHONPATH", "").split(os.pathsep)
    left = {
        "JAVA_TOOL_OPTIONS": _JAVA_OPTION.sub("", environ.get("JAVA_TOOL_OPTIONS", "")).strip(),
        "NODE_OPTIONS": environ.get("NODE_OPTIONS", "").replace(_node_options(), "").strip(),
        "PYTHONPATH": os.pathsep.join(part for part in paths if part and part != python),
    }
    return sorted({**dict.fromkeys(_names(), ""), **left}.items())


def forget(environ: MutableMapping[str, str]) -> None:
    """Removes the settings of `footplate env` from the environment of a server.

    A server downloads packages, and so do its jobs' builds; the proxy would refuse the downloads.
    """
    if str(_python_folder(environ)) in environ.get("PYTHONPATH", "").split(os.pathsep):
        for name, rest in take_away(environ):
            environ.pop(name, None)
            if rest:
                environ[name] = rest


def _names() -> set[str]:
    proxy = ProxyTarget("", 0, "")
    return {
        *_google("", "", Files()),
        *_gcloud(proxy, "token"),
        *_emulator(None),
        *(*PROXIES, *NO_PROXIES, *TRUSTING, "NODE_USE_ENV_PROXY", "SSL_CERT_DIR"),
    }


def _google(project: str, region: str, files: Files) -> dict[str, str]:
    return {
        "BOTO_CONFIG": str(files.boto),  # of gsutil
        "CLOUDSDK_AI_REGION": region,
        "CLOUDSDK_COMPUTE_REGION": region,
        # Of models only, which gcloud asks for at REGION-ENDPOINT, and breaks where that isn't.
        "CLOUDSDK_AI_PLATFORM_REGION": "global",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_CORE_PROJECT": project,
        "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL": "2",  # seconds; stream-logs would ask once a minute
        "GCE_METADATA_HOST": _UNREACHABLE,
        "GCE_METADATA_IP": _UNREACHABLE,
        "GCE_METADATA_ROOT": _UNREACHABLE,
        "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",  # else gcsfs asks each bucket over gRPC
        "GOOGLE_API_USE_CLIENT_CERTIFICATE": "false",
        "GOOGLE_API_USE_MTLS_ENDPOINT": "never",
        "GOOGLE_APPLICATION_CREDENTIALS": str(files.account),
        "GOOGLE_AUTH_TOKEN_FOR_TESTING": _USER,  # TensorFlow looks for credentials without it
        "GOOGLE_CLOUD_PROJECT": project,
        "METADATA_SERVER_DETECTION": "none",
        "NO_GCE_CHECK": "true",
    }


def _gcloud(proxy: ProxyTarget, token: str | None) -> dict[str, str]:
    found = {
        # Its gRPC (logging tail) asks for credentials; with a token it never loads the user's.
        "CLOUDSDK_AUTH_ACCESS_TOKEN": _USER,
        # Over what the user's configuration says, which would ask for another account's token.
        "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT": "",
        "CLOUDSDK_CORE_PASS_CREDENTIALS_TO_GSUTIL": "false",
        "CLOUDSDK_PROXY_ADDRESS": proxy.host,
        "CLOUDSDK_PROXY_PORT": str(proxy.port),
        "CLOUDSDK_PROXY_TYPE": "http",
    }
    if token:
        # gcloud makes an address of it, and encodes no slashes in that.
        encoded = quote(token, safe="")
        found |= {"CLOUDSDK_PROXY_USERNAME": _USER, "CLOUDSDK_PROXY_PASSWORD": encoded}
    return found


def _emulator(target: Target | None) -> dict[str, str]:
    """Returns variables for gcsfs, which ignores proxies: empty without a target, none if a token
    is needed.
    """
    url = "" if target is None else target.url
    names = ("CLOUD_STORAGE_EMULATOR_ENDPOINT", "STORAGE_EMULATOR_HOST")
    return {} if target is not None and target.token else dict.fromkeys(names, url)


def _address(proxy: ProxyTarget, token: str | None) -> str:
    host = f"[{proxy.host}]" if ":" in proxy.host else proxy.host
    credentials = f"{_USER}:{quote(token, safe='')}@" if token else ""
    return f"http://{credentials}{host}:{proxy.port}"


def _boto_config(proxy: ProxyTarget, project: str, token: str | None, roots: Path) -> str:
    """Returns gsutil's configuration; it replaces the user's own, which may hold credentials."""
    lines = [
        "[Boto]",
        f"proxy = {proxy.host}",
        f"proxy_port = {proxy.port}",
        f"ca_certificates_file = {roots}",
        "https_validate_certificates = True",
    ]
    if token:
        encoded = quote(token, safe="").replace("%", "%%")
        lines += [f"proxy_user = {_USER}", f"proxy_pass = {encoded}"]
    gsutil = ["[GSUtil]", f"default_project_id = {project}", "software_update_check_period = 0"]
    return "\n".join([*lines, *gsutil, ""])


def _java_options(proxy: ProxyTarget, files: Files, beside: Sequence[str], before: str) -> str:
    host, port = proxy.host, str(proxy.port)
    direct = "|".join("127.*" if name == LOOPBACK[0] else name for name in beside)
    values = (str(files.java_roots), "JKS", host, port, host, port, direct.replace("::1", "[::1]"))
    given = (f"-D{name}={value}" for name, value in zip(_JAVA, values, strict=True))
    words = (f'"{word}"' if " " in word else word for word in given)
    return " ".join(filter(None, (before, *words)))


def _node_options() -> str:
    """Returns Node's options to trust only ``SSL_CERT_FILE``, with or without the proxy."""
    return f'--use-openssl-ca "--require={_NODE}"'


def _pysocks() -> bytes:
    found = find_spec("socks")
    if found is None or found.origin is None:
        raise Failure("the package PySocks is missing; install footplate again")
    return Path(found.origin).read_bytes()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _python_folder(environ: Mapping[str, str]) -> Path:
    """Returns the folder for Python, named after its content: versions of Footplate differ."""
    return _cache(environ) / f"python-{_digest(SITECUSTOMIZE + _SDK_LINKS.read_text('utf-8'))}"


def _cache(environ: Mapping[str, str]) -> Path:
    cache = Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return cache / "footplate" / "launch"


_BLOCK = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)
_MAGIC, _VERSION, _TRUSTED = 0xFEEDFEED, 2, 2
_PASSWORD = "changeit"  # noqa: S105  Java's own; the digest that it is part of guards nothing
_SALT = b"Mighty Aphrodite"


def machine_roots() -> str:
    """Returns the authorities that Python's own clients trust on this machine, in PEM."""
    # Imported here: a server, which names the variables only to take them away, needs none of it.
    import httpx

    found = ssl.create_default_context().get_ca_certs(binary_form=True)
    found += httpx.create_ssl_context(trust_env=False).get_ca_certs(binary_form=True)
    return "".join(map(ssl.DER_cert_to_PEM_cert, dict.fromkeys(found)))


def java_key_store(pem: str) -> bytes:
    """Returns the certificates in Java's own format (JKS), which all of its versions read."""
    certificates = [ssl.PEM_cert_to_DER_cert(block) for block in _BLOCK.findall(pem)]
    content = struct.pack(">III", _MAGIC, _VERSION, len(certificates))
    content += b"".join(_entries(certificates))
    password = _PASSWORD.encode("utf-16-be")
    # SHA-1 is what the format has.
    return content + hashlib.sha1(password + _SALT + content, usedforsecurity=False).digest()


def _entries(certificates: Sequence[bytes]) -> list[bytes]:
    return [
        struct.pack(">I", _TRUSTED)
        + _text(f"footplate{number}")
        + struct.pack(">Q", 0)  # when it was added
        + _text("X.509")
        + struct.pack(">I", len(certificate))
        + certificate
        for number, certificate in enumerate(certificates)
    ]


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()
