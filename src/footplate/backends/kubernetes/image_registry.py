"""Asks a registry what an image runs: its manifest, then its configuration.

The HTTP API is that of https://github.com/opencontainers/distribution-spec, with the tokens of
Docker's registries. Answers are checked against their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from footplate.containers.credentials import host_of
from footplate.domain.image_reference import (
    DEFAULT_REGISTRY,
    ImageReference,
    MalformedReference,
    parse_reference,
)
from footplate.plain_httpx import httpx

Login = tuple[str, str]
Content = dict[str, Any]

TIMEOUT_S = 20.0
LONGEST_S = 60.0
"""The limit for one answer with its body."""
MAX_BYTES = 8 << 20
_HUB = "registry-1.docker.io"
_LISTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_CHALLENGE = re.compile(r'\b(\w+)="([^"]*)"')
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_USUAL = "amd64"
"""The architecture that stands for a list of images: those of others name the same command."""


class UnknownImage(Exception):
    """The registry doesn't say which program the image runs. The message is for users."""


@dataclass(frozen=True)
class ImageConfig:
    """An image's configuration. ``reference`` has the digest; ``architecture`` is empty if there
    are several.
    """

    reference: str
    architecture: str
    config: Content
    """``Entrypoint``, ``Cmd``, ``Env``, ``WorkingDir`` and ``User``, as the image has them."""


def find_logins(files: Iterable[str]) -> dict[str, Login]:
    """Returns user and password by registry, from the texts of ``.dockerconfigjson`` files."""
    found: dict[str, Login] = {}
    for text in files:
        try:
            entries = json.loads(text)["auths"].items()
            for name, entry in entries:
                found.setdefault(host_of(name), _login_of(entry))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return found


def _login_of(entry: Mapping[str, str]) -> Login:
    """Returns user and password of an entry. Raises ValueError, KeyError."""
    if "auth" in entry:
        user, _, password = base64.b64decode(entry["auth"], validate=True).decode().partition(":")
        return user, password
    return entry["username"], entry["password"]


def read_image(name: str, logins: Mapping[str, Login]) -> ImageConfig:
    """Returns an image's configuration from its registry. Raises UnknownImage."""
    try:
        image = parse_reference(name)
    except MalformedReference as error:
        raise UnknownImage(f"{name} names no image: {error}") from error
    try:
        with httpx.Client(timeout=TIMEOUT_S, follow_redirects=True) as client:
            return _Registry(client, image, logins.get(image.registry)).read()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = str(error) or repr(error)
        raise UnknownImage(
            f"the registry {image.registry} doesn't answer for {image}: {said}"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnknownImage(
            f"the registry {image.registry} sends an answer for {image} that can't be read: "
            f"{error!r}"
        ) from error


class _Registry:
    def __init__(self, client: httpx.Client, image: ImageReference, login: Login | None) -> None:
        self._client = client
        self._image = image
        self._login = login
        self._authorization: dict[str, str] = {}
        host = _HUB if image.registry == DEFAULT_REGISTRY else image.registry
        self._host = f"https://{host}"

    def read(self) -> ImageConfig:
        """Returns the image's configuration.

        Raises UnknownImage, httpx.HTTPError, ValueError, KeyError, TypeError.
        """
        image = self._image
        self._find_scheme()
        content = self._get(f"manifests/{image.version}", image.digest or "")
        reference = f"{image.name}@{_digest(content)}"
        manifest, architecture = json.loads(content), None
        if "manifests" in manifest:
            architecture = ""
            manifest = json.loads(self._get_manifest(_choose(manifest["manifests"])))
        blob = manifest["config"]["digest"]
        found = json.loads(self._get(f"blobs/{_checked(blob)}", blob))
        if architecture is None:
            architecture = str(found.get("architecture") or "")
        return ImageConfig(reference, architecture, dict(found.get("config") or {}))

    def _get_manifest(self, digest: str) -> bytes:
        return self._get(f"manifests/{_checked(digest)}", digest)

    def _find_scheme(self) -> None:
        """Chooses https or, for a registry on this machine, also http. Raises httpx.HTTPError."""
        if not self._image.on_loopback:
            return
        try:
            self._ask(f"{self._host}/v2/")
        except httpx.TransportError:
            self._host = self._host.replace("https://", "http://", 1)

    def _get(self, path: str, digest: str) -> bytes:
        """Returns a file of the repository. ``digest`` is empty for a tag. Raises UnknownImage,
        httpx.HTTPError.
        """
        url = f"{self._host}/v2/{self._image.repository}/{path}"
        answer, content = self._ask(url, headers=self._headers)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            self._authorize(answer.headers.get("www-authenticate", ""))
            answer, content = self._ask(url, headers=self._headers)
        if answer.status_code != httpx.codes.OK:
            raise UnknownImage(_explain(self._image, answer.status_code, self._login))
        if digest.startswith("sha256:") and _digest(content) != digest:
            raise UnknownImage(
                f"the registry {self._image.registry} sends bytes that don't match {digest}"
            )
        return content

    @property
    def _headers(self) -> dict[str, str]:
        return {"Accept": ", ".join((*_LISTS, *_MANIFESTS, "*/*")), **self._authorization}

    def _ask(self, url: str, **given: Any) -> tuple[httpx.Response, bytes]:
        """Returns a response and its body of limited size. Raises UnknownImage, httpx.HTTPError."""
        end_s = time.monotonic() + LONGEST_S
        with self._client.stream("GET", url, **given) as answer:
            content = b""
            for part in answer.iter_bytes():
                content += part
                if len(content) > MAX_BYTES:
                    raise UnknownImage(
                        f"the registry's answer at {url} is larger than {MAX_BYTES >> 20} MB"
                    )
                if time.monotonic() > end_s:
                    raise UnknownImage(
                        f"the registry took longer than {LONGEST_S:g} s to answer at {url}"
                    )
        return answer, content

    def _authorize(self, challenge: str) -> None:
        """Answers a registry's challenge with a login. Raises UnknownImage, httpx.HTTPError,
        ValueError, KeyError.
        """
        scheme, _, rest = challenge.partition(" ")
        login = None if self._login is None else httpx.BasicAuth(*self._login)
        if scheme.lower() == "basic" and self._login is not None:
            packed = base64.b64encode(":".join(self._login).encode()).decode()
            self._authorization = {"Authorization": f"Basic {packed}"}
        if scheme.lower() != "bearer":
            return
        fields = dict(_CHALLENGE.findall(rest))
        realm = fields.pop("realm")
        if self._host.startswith("https://") and not realm.startswith("https://"):
            raise UnknownImage(
                f"the registry {self._image.registry} asks for tokens at {realm}, which isn't "
                "served over TLS"
            )
        fields["scope"] = f"repository:{self._image.repository}:pull"
        answer, content = self._ask(realm, params=fields, auth=login)
        if answer.status_code != httpx.codes.OK:
            raise UnknownImage(_explain(self._image, answer.status_code, self._login))
        said = json.loads(content)
        token = str(said.get("token") or said["access_token"])
        self._authorization = {"Authorization": f"Bearer {token}"}


def _choose(entries: Iterable[Content]) -> str:
    """Returns a list's image for Linux on the usual processors, or else its first one for Linux."""
    linux = [each for each in entries if (each.get("platform") or {}).get("os") == "linux"]
    usual = [each for each in linux if each["platform"].get("architecture") == _USUAL]
    if not linux:
        raise UnknownImage("the image has no version for Linux")
    return str((usual or linux)[0]["digest"])


def _checked(digest: str) -> str:
    """Returns the digest. Raises ValueError for other text, which could be another path."""
    if not _SHA256.fullmatch(digest):
        raise ValueError(f"{digest[:100]!r} is no digest")
    return digest


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _explain(image: ImageReference, status: int, login: Login | None) -> str:
    if status == httpx.codes.NOT_FOUND:
        return f"{image.registry} has no image {image}"
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        known = (
            "the Secrets in imagePullSecrets of the region's pod_template don't allow it"
            if login
            else ("set imagePullSecrets in the region's pod_template to a Secret with a password")
        )
        return f"the registry {image.registry} doesn't let Footplate read {image}: {known}"
    return f"{image.registry} answers HTTP {status} for {image}"
