"""Explains an engine's errors in one sentence for users. Pure.

Podman and Docker word the same failures differently, and registries add words of their own.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.containers.credentials import Credentials
    from footplate.domain.image_reference import ImageReference

PLAIN_HTTP = "server gave HTTP response to HTTPS client"
_AMBIGUOUS = "repository does not exist or may require"
_DENIED = (
    "unauthorized",
    "no basic auth credentials",
    "authentication required",
    "denied",
    "forbidden",
    "incorrect username or password",
    "invalid username/password",
    "unable to retrieve auth token",
)
_MISSING = ("manifest unknown", "name unknown", "not found", "no such image")
_ARCHITECTURE = ("no matching manifest for", "no image found in manifest list", "no match for plat")
_FULL = ("no space left on device", "disk quota exceeded")
_LIMITED = ("toomanyrequests", "too many requests", "rate limit")
_UNREACHABLE = (
    "connection refused",
    "no such host",
    "i/o timeout",
    "network is unreachable",
    "no route to host",
    "handshake timeout",
    "server misbehaving",
    "deadline exceeded",
    "client.timeout",
    "connection reset",
    "unexpected eof",
    "temporary failure in name resolution",
)


def explain(text: str, reference: ImageReference, credentials: Credentials) -> str:
    """Returns a sentence for users, without a full stop, as all messages of events."""
    short, registry = _image(reference), reference.registry
    lowered = text.lower()
    if _AMBIGUOUS in lowered:
        tried = _login(registry, credentials)
        return (
            f"{registry} has no image {short} that this user may pull; check its name, or {tried}"
        )
    if any(words in lowered for words in _ARCHITECTURE):
        return (
            f"{registry} has no image {short} for this machine{_wanted(text)}; build the image "
            "for this machine, too"
        )
    if any(words in lowered for words in _FULL):
        return f"the engine's disk has no space for {reference}; free some (docker system prune)"
    if any(words in lowered for words in _LIMITED):
        return (
            f"{registry} limits how many images it lets you pull; {_login(registry, credentials)}"
        )
    if "x509:" in lowered:
        return f"the engine does not trust the certificate of {registry}: {_tail(text, 'x509:')}"
    if PLAIN_HTTP.lower() in lowered:
        return (
            f"{registry} speaks plain http, which engines accept only from their own machine; "
            "allow it there (Podman: registries.conf, insecure = true; Docker: daemon.json, "
            "insecure-registries)"
        )
    if any(words in lowered for words in _DENIED):
        return _denied(short, registry, credentials)
    if any(words in lowered for words in _UNREACHABLE):
        return f"the registry {registry} can't be reached: {_cause(text)}"
    if any(words in lowered for words in _MISSING):
        return f"{registry} has no image {short}; check the name, or push it first"
    return f"the engine can't pull {reference}: {text}"


def _image(reference: ImageReference) -> str:
    if reference.digest:
        return f"{reference.repository}@{reference.digest}"
    return f"{reference.repository}:{reference.version}"


def _denied(image: str, registry: str, credentials: Credentials) -> str:
    if credentials.user is None:
        return (
            f"{registry} gives image {image} only to users who log in, and {credentials.config} "
            f"has no credentials for it; {_login(registry, credentials)}"
        )
    return (
        f"{registry} does not let user {credentials.user} ({credentials.config}) pull {image}; "
        f"{_login(registry, credentials)}"
    )


def _login(registry: str, credentials: Credentials) -> str:
    as_other = " as a user who may pull this image" if credentials.user is not None else ""
    return f"run docker login {registry}{as_other}"


def _wanted(text: str) -> str:
    found = re.search(r"architecture (\w+).{0,100}?OS (\w+)", text)
    if found:
        return f" ({found[2]}/{found[1]})"
    found = re.search(r"no matching manifest for (\S+)", text)
    return f" ({found[1]})" if found else ""


def _cause(text: str) -> str:
    """Returns the innermost of Go's wrapped errors that is still informative."""
    parts = [part.strip() for part in text.split(": ")]
    last = parts[-1].rstrip('"')
    return (
        f"{parts[-2]}: {last}" if len(parts) > 1 and len(last) < len("connection refused") else last
    )


def _tail(text: str, start: str) -> str:
    return text[text.lower().index(start) + len(start) :].strip()
