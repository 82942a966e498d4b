"""Parses names of container images.

``[REGISTRY[:PORT]/]REPOSITORY[:TAG][@ALGORITHM:HEX]``, where the first part is a registry only if
it looks like a host: it has a dot, a colon, a capital, or is ``localhost``.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

DEFAULT_REGISTRY = "docker.io"
DEFAULT_TAG = "latest"
MAX_NAME = 255

_LABEL = r"(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])"
_HOST = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?P<port>:[0-9]+)?", re.ASCII)
_COMPONENT = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*", re.ASCII)
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}", re.ASCII
)
_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_IDENTIFIER = re.compile(r"[0-9a-f]{64}")


class MalformedReference(ValueError):
    """The text is no valid image name. The message describes the error and the allowed form."""


@dataclass(frozen=True)
class ImageReference:
    """The parts of an image's name; ``tag`` and ``digest`` are None if they weren't given."""

    registry: str
    repository: str
    tag: str | None = None
    digest: str | None = None

    def __str__(self) -> str:
        """Returns the full name, which means the same to every engine."""
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.name}{tag}{f'@{self.digest}' if self.digest else ''}"

    @property
    def name(self) -> str:
        """Returns the name without tag and digest."""
        return f"{self.registry}/{self.repository}"

    @property
    def version(self) -> str:
        """Returns the version to fetch: the digest if there is one, else the tag."""
        return self.digest or self.tag or DEFAULT_TAG

    @property
    def on_loopback(self) -> bool:
        """Returns whether the registry runs on this machine; such a registry may use plain HTTP."""
        host = self.registry.rpartition(":")[0] if _port(self.registry) else self.registry
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host.strip("[]")).is_loopback
        except ValueError:
            return False


def parse_reference(text: str) -> ImageReference:
    """Parses the name of an image. Raises MalformedReference: the text doesn't name an image."""
    _refuse_common_mistakes(text)
    rest, at, digest = text.partition("@")
    if at:
        _check_digest(digest)
    slash = rest.rfind("/")
    colon = rest.rfind(":")
    name, tag = (rest[:colon], rest[colon + 1 :]) if colon > slash else (rest, None)
    if tag is not None and not _TAG.fullmatch(tag):
        allowed = "letters, digits, '_', '.' and '-', at most 128, first neither '.' nor '-'"
        raise MalformedReference(f"the image's tag {_quoted(tag)} is malformed; allowed: {allowed}")
    registry, repository = _split(name)
    _check_registry(registry)
    _check_repository(repository)
    if len(name) > MAX_NAME:
        raise MalformedReference(
            f"the image's name has {len(name)} characters; allowed: at most {MAX_NAME}"
        )
    return ImageReference(registry, repository, tag, digest if at else None)


def _refuse_common_mistakes(text: str) -> None:
    if not text:
        raise MalformedReference("it is empty")
    if any(character.isspace() for character in text):
        raise MalformedReference("it has a space")
    if scheme := _SCHEME.match(text):
        raise MalformedReference(f"the image's name begins with {scheme[0]}; leave {scheme[0]} out")
    if _IDENTIFIER.fullmatch(text):
        raise MalformedReference(
            "this is the id of an image; give the image's name, or tag the image first"
        )


def _split(name: str) -> tuple[str, str]:
    first, slash, rest = name.partition("/")
    if not slash:
        return DEFAULT_REGISTRY, f"library/{name}"
    host = "." in first or ":" in first or first == "localhost" or first != first.lower()
    if not host:
        return DEFAULT_REGISTRY, name
    if first in (DEFAULT_REGISTRY, "index.docker.io"):
        return DEFAULT_REGISTRY, rest if "/" in rest else f"library/{rest}"
    return first, rest


def _check_registry(registry: str) -> None:
    if not _HOST.fullmatch(registry):
        raise MalformedReference(
            f"the image's registry {_quoted(registry)} is malformed; allowed: HOST or HOST:PORT"
        )


def _port(registry: str) -> str | None:
    found = _HOST.fullmatch(registry)
    return found["port"] if found else None


def _check_repository(repository: str) -> None:
    for component in repository.split("/"):
        if _COMPONENT.fullmatch(component):
            continue
        if not component:
            raise MalformedReference("the image's name has two slashes together, or one at its end")
        if component != component.lower():
            raise MalformedReference(
                f"{_quoted(component)} in the image's name has capital letters; use small letters"
            )
        raise MalformedReference(
            f"{_quoted(component)} in the image's name is malformed; allowed: small letters and "
            "digits, with '.', '_', '__' or '-' between them"
        )


def _check_digest(digest: str) -> None:
    algorithm, _, value = digest.partition(":")
    if not _DIGEST.fullmatch(digest):
        raise MalformedReference(
            f"the image's digest {_quoted(digest)} is malformed; allowed: sha256: and 64 "
            "hexadecimal digits"
        )
    length = _LENGTHS.get(algorithm)
    if length is not None and (len(value) != length or value != value.lower()):
        raise MalformedReference(
            f"the image's digest has {len(value)} digits after {algorithm}:; "
            f"allowed: {length} of 0 to 9 and a to f"
        )


def _quoted(text: str) -> str:
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    return f"'{shown}'"
