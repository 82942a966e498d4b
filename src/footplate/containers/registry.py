"""Asks a registry what an image runs: its manifest, then its configuration.

The HTTP API is that of https://github.com/opencontainers/distribution-spec, with the tokens of
Docker's registries. Answers are checked against their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request

from footplate.containers.credentials import host_of
from footplate.domain.image_reference import DEFAULT_REGISTRY, MalformedReference, parse_reference
from footplate.limited_http import LIMIT_S, open_url

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, Mapping, Tuple

    from footplate.domain.image_reference import ImageReference

    Login = Tuple[str, str]
    Content = Dict[str, Any]

TIMEOUT_S = 20.0
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
_ACCEPT = ", ".join((*_LISTS, *_MANIFESTS, "*/*"))
_CHALLENGE = re.compile(r'\b(\w+)="([^"]*)"')
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_PART_BYTES = 65536
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 200, 401, 403, 404
_USUAL = "amd64"
"""The architecture that stands for a list of images: those of others name the same command."""
PULL_SECRETS = (
    "set imagePullSecrets in the region's pod_template to a Secret with a password",
    "the Secrets in imagePullSecrets of the region's pod_template don't allow it",
)
"""What helps against a refusal in Kubernetes: without a login, and with one."""


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
    plain_http: bool = False
    """The registry speaks http; only one on this machine may."""


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


def read_image(
    name: str,
    logins: Mapping[str, Login],
    *,
    architecture: str = _USUAL,
    remedies: Tuple[str, str] = PULL_SECRETS,
    limit_s: float = LIMIT_S,
) -> ImageConfig:
    """Returns an image's configuration from its registry. Raises UnknownImage.

    ``architecture`` is the one to take of several. ``remedies`` say what helps where the registry
    refuses: without a login, and with one. Each answer may take ``limit_s``, with its body.
    """
    try:
        image = parse_reference(name)
    except MalformedReference as error:
        raise UnknownImage(f"{name} names no image: {error}") from error
    try:
        return _Registry(image, logins.get(image.registry), remedies, limit_s).read(architecture)
    except (OSError, HTTPException) as error:
        said = str(getattr(error, "reason", "") or error) or repr(error)
        raise UnknownImage(
            f"the registry {image.registry} doesn't answer for {image}: {said}"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnknownImage(
            f"the registry {image.registry} sends an answer for {image} that can't be read: "
            f"{error!r}"
        ) from error


class _Registry:
    def __init__(
        self,
        image: ImageReference,
        login: Login | None,
        remedies: Tuple[str, str],
        limit_s: float,
    ) -> None:
        self._image = image
        self._login = login
        self._remedies = remedies
        self._limit_s = limit_s
        self._authorization = ""
        host = _HUB if image.registry == DEFAULT_REGISTRY else image.registry
        self._host = f"https://{host}"

    def read(self, wanted: str) -> ImageConfig:
        """Returns the image's configuration for the architecture ``wanted``.

        Raises UnknownImage, OSError, HTTPException, ValueError, KeyError, TypeError.
        """
        image = self._image
        self._find_scheme()
        content = self._get(f"manifests/{image.version}", image.digest or "")
        reference = f"{image.name}@{_digest(content)}"
        manifest, architecture = json.loads(content), None
        if "manifests" in manifest:
            architecture = ""
            manifest = json.loads(self._get_manifest(_choose(manifest["manifests"], wanted)))
        blob = manifest["config"]["digest"]
        found = json.loads(self._get(f"blobs/{_checked(blob)}", blob))
        if architecture is None:
            architecture = str(found.get("architecture") or "")
        config = dict(found.get("config") or {})
        return ImageConfig(reference, architecture, config, self._host.startswith("http://"))

    def _get_manifest(self, digest: str) -> bytes:
        return self._get(f"manifests/{_checked(digest)}", digest)

    def _find_scheme(self) -> None:
        """Chooses https or, for a registry on this machine, also http. Raises UnknownImage."""
        if not self._image.on_loopback:
            return
        try:
            self._ask(f"{self._host}/v2/")
        except (OSError, HTTPException):  # it may speak http
            self._host = self._host.replace("https://", "http://", 1)

    def _get(self, path: str, digest: str) -> bytes:
        """Returns a file of the repository. ``digest`` is empty for a tag. Raises as ``read``."""
        url = f"{self._host}/v2/{self._image.repository}/{path}"
        status, challenge, content = self._ask(url, self._authorization)
        if status == _UNAUTHORIZED:
            self._authorize(challenge)
            status, _, content = self._ask(url, self._authorization)
        if status != _OK:
            raise UnknownImage(self._explain(status))
        if digest.startswith("sha256:") and _digest(content) != digest:
            raise UnknownImage(
                f"the registry {self._image.registry} sends bytes that don't match {digest}"
            )
        return content

    def _authorize(self, challenge: str) -> None:
        """Answers a registry's challenge with a login. Raises as ``read`` does."""
        scheme, _, rest = challenge.partition(" ")
        basic = ""
        if self._login is not None:
            basic = f"Basic {base64.b64encode(':'.join(self._login).encode()).decode()}"
        if scheme.lower() == "basic":
            self._authorization = basic
        if scheme.lower() != "bearer":
            return
        fields = dict(_CHALLENGE.findall(rest))
        realm = fields.pop("realm")
        if not realm.startswith(("https://", "http://")) or (
            self._host.startswith("https://") and not realm.startswith("https://")
        ):
            raise UnknownImage(
                f"the registry {self._image.registry} asks for tokens at {realm}, which isn't "
                "served over TLS"
            )
        fields["scope"] = f"repository:{self._image.repository}:pull"
        url = f"{realm}{'&' if '?' in realm else '?'}{urlencode(fields)}"
        status, _, content = self._ask(url, basic)
        if status != _OK:
            raise UnknownImage(self._explain(status))
        said = json.loads(content)
        self._authorization = f"Bearer {said.get('token') or said['access_token']}"

    def _ask(self, url: str, authorization: str = "") -> Tuple[int, str, bytes]:
        """Returns status, challenge and a body of limited size. Raises UnknownImage, OSError,
        HTTPException, ValueError.
        """
        request = Request(url, headers={"Accept": _ACCEPT})  # noqa: S310  its callers give http(s)
        if authorization:  # where the registry redirects to, this mustn't go
            request.add_unredirected_header("Authorization", authorization)
        try:
            answer = open_url(request, TIMEOUT_S, self._limit_s)
        except HTTPError as error:
            with error:
                return error.code, error.headers.get("www-authenticate", ""), b""
        content = b""
        with answer:
            while part := answer.read1(_PART_BYTES):
                content += part
                if len(content) > MAX_BYTES:
                    raise UnknownImage(
                        f"the registry's answer at {url} is larger than {MAX_BYTES >> 20} MB"
                    )
        return _OK, "", content

    def _explain(self, status: int) -> str:
        image = self._image
        if status == _NOT_FOUND:
            return f"{image.registry} has no image {image}"
        if status in (_UNAUTHORIZED, _FORBIDDEN):
            remedy = self._remedies[self._login is not None]
            return f"the registry {image.registry} doesn't let Footplate read {image}: {remedy}"
        return f"{image.registry} answers HTTP {status} for {image}"


def _choose(entries: Iterable[Content], wanted: str) -> str:
    """Returns a list's image for Linux on the wanted processors, or else its first one for
    Linux.
    """
    linux = [each for each in entries if (each.get("platform") or {}).get("os") == "linux"]
    usual = [each for each in linux if each["platform"].get("architecture") == wanted]
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
