"""Pulls, builds and pushes images."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlencode

from footplate.containers.credentials import UnreadableCredentials, find_credentials
from footplate.containers.engine_api import Engine, EngineGone
from footplate.containers.pull_progress import PullProgress, Reporter
from footplate.domain.image_reference import MalformedReference, parse_reference

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Mapping

    from footplate.containers.credentials import Credentials
    from footplate.domain.image_reference import ImageReference


# Explains an engine's errors in one sentence for users. Pure.
#
# Podman and Docker word the same failures differently, and registries add words of their own.

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
MISSING = ("manifest unknown", "name unknown", "not found", "no such image")
_ARCHITECTURE = ("no matching manifest for", "no image found in manifest list", "no match for plat")
FULL = ("no space left on device", "disk quota exceeded")
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
    if any(words in lowered for words in FULL):
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
    if any(words in lowered for words in MISSING):
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


STALL_TIMEOUT_S = 120.0
"""A pull that gets no byte of a registry for so long fails."""
UNPACKING_LIMIT_S = 3600.0
"""The engine may be silent for so long while it unpacks what has arrived."""
STALL_NOTICE_S = 10.0
_LIBPOD_IMAGES = "/v4.0.0/libpod/images"


class ImageFailure(Exception):
    """Pulling, building or pushing an image failed. The message is a sentence for users."""


def pull(
    socket: str,
    name: str,
    lock_dir: str,
    environment: Mapping[str, str],
    silence_limit_s: float = STALL_TIMEOUT_S,
) -> None:
    """Pulls an image with this user's credentials; only one pull of it at a time on this machine.

    Progress goes to stdout as JSON lines. If a registry sends nothing for ``silence_limit_s``, this
    process ends, with the reason as the last line, since a thread that waits for the engine can't
    be stopped.

    Raises ImageFailure, EngineError, OSError.
    """
    try:
        reference = parse_reference(name)
    except MalformedReference as error:
        raise ImageFailure(f"'{name}' names no image: {error}") from error
    engine, report = Engine(socket, None), Reporter()
    with alone(reference, lock_dir, report, os.uname().nodename) as waited, _sentences(engine):
        if waited and engine.inspect_image(_without_tag(reference)) is not None:
            return
        credentials = find_credentials(reference.registry, environment)
        watch = _Watch(reference, report, silence_limit_s)
        try:
            _pull(engine, reference, credentials, watch)
        finally:
            watch.done()


def build(socket: str, context: bytes, name: str, say: Callable[[str], None]) -> None:
    """Builds ``context``, a tar.gz with a Dockerfile; ``say`` gets each line of the output.

    Its commands use this machine's network, so that they reach a package index on it.

    Raises ImageFailure, whose sentence has the reason.
    """
    query = urlencode({"t": name, "rm": "true", "networkmode": "host"})
    engine = Engine(socket, None)
    with _sentences(engine):
        for event in engine.stream(f"/build?{query}", context, "Content-Type: application/x-tar"):
            _check(event, f"{name} does not build")
            for line in str(event.get("stream", "")).splitlines():
                if line.strip():
                    say(line)


def push(
    socket: str,
    reference: ImageReference,
    environment: Mapping[str, str],
    say: Callable[[str], None],
) -> None:
    """Pushes an image with the credentials of the user's configuration. Raises ImageFailure."""
    engine = Engine(socket, None)
    with _sentences(engine):
        credentials = find_credentials(reference.registry, environment)
        say(f"pushes {reference}")
        path = f"/images/{reference.name}/push?{urlencode({'tag': reference.version})}"
        if _needs_plain_http(engine, reference):
            path = f"{_LIBPOD_IMAGES}/{reference}/push?tlsVerify=false"
        for event in engine.stream(path, b"", credentials.header):
            _check(event, f"{reference} can't be pushed")


@contextmanager
def _sentences(engine: Engine) -> Iterator[None]:
    """Raises ImageFailure for the errors of the engine in the block."""
    try:
        yield
    except UnreadableCredentials as error:
        raise ImageFailure(str(error)) from error
    except EngineGone as error:
        raise ImageFailure(
            f"the container engine at {engine.path} has ended, or no longer answers; start it again"
        ) from error


def _check(event: Mapping[str, Any], what: str) -> None:
    error = event.get("error")
    if error:
        raise ImageFailure(f"{what}: {str(error).strip()}")


def _needs_plain_http(engine: Engine, reference: ImageReference) -> bool:
    """Returns whether Podman's own API is needed, as its Docker API doesn't support plain http."""
    return reference.on_loopback and engine.identify().startswith("Podman")


def _pull(
    engine: Engine, reference: ImageReference, credentials: Credentials, watch: _Watch
) -> None:
    query = urlencode({"fromImage": reference.name, "tag": reference.version})
    error = _follow(engine, f"/images/create?{query}", credentials, watch)
    if error and PLAIN_HTTP in error and _needs_plain_http(engine, reference):
        name = _without_tag(reference)
        query = urlencode({"reference": name, "policy": "always", "tlsVerify": "false"})
        error = _follow(engine, f"{_LIBPOD_IMAGES}/pull?{query}", credentials, watch)
    if error:
        raise ImageFailure(explain(error, reference, credentials))


def _follow(engine: Engine, path: str, credentials: Credentials, watch: _Watch) -> str:
    """Follows a pull; returns the engine's error, or '' if it has the image."""
    for event in engine.stream(path, None, *([credentials.header] if credentials.user else [])):
        if event.get("error"):
            return str(event["error"])
        watch.take(event)
    return ""


class _Watch:
    """Prints a pull's progress, and ends the process if the registry sends nothing for too long."""

    def __init__(self, reference: ImageReference, report: Reporter, silence_limit_s: float) -> None:
        self._reference = reference
        self._report = report
        self._limit_s = silence_limit_s
        self._progress = PullProgress(str(reference))
        self._lock = threading.Lock()
        self._heard = time.monotonic()
        self._done = threading.Event()
        report.say(self._progress.message, at_once=True)
        threading.Thread(target=self._watch, name="silence", daemon=True).start()

    def take(self, event: Mapping[str, Any]) -> None:
        with self._lock:
            self._heard = time.monotonic()
            self._progress.take(event)
            message = self._progress.message
        self._report.say(message)

    def done(self) -> None:
        self._done.set()

    def _watch(self) -> None:
        while not self._done.wait(min(1.0, self._limit_s / 4)):
            with self._lock:
                silent_s = time.monotonic() - self._heard
                waits_for_registry = self._progress.downloading
                message = self._progress.message
            limit_s = self._limit_s if waits_for_registry else UNPACKING_LIMIT_S
            who = self._reference.registry if waits_for_registry else "the engine"
            if silent_s >= limit_s:
                self._report.fail(
                    f"the pull of {self._reference} failed: {who} sent nothing for {limit_s:g} s"
                )
            if silent_s >= min(STALL_NOTICE_S, self._limit_s / 2):
                seconds = int(silent_s // STALL_NOTICE_S * STALL_NOTICE_S)
                since = f"for {seconds} s" if seconds else "yet"
                self._report.say(f"{message}; waits for {who}, which sent nothing {since}")


@contextmanager
def alone(
    reference: ImageReference, lock_dir: str, report: Reporter, node: str = ""
) -> Iterator[bool]:
    """Keeps other processes from pulling the image; yields whether it had to wait for one.

    Nodes may share ``lock_dir``, but not their engines: each ``node`` has its own locks. Without
    one the lock is that of all.
    """
    os.makedirs(lock_dir, exist_ok=True)
    subject = f"{node} {reference}"
    path = os.path.join(lock_dir, f"{hashlib.sha256(subject.encode()).hexdigest()[:32]}.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            waited = False
        except BlockingIOError:
            report.say(f"waits for another job that pulls {reference}", at_once=True)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            waited = True
        yield waited
    finally:
        os.close(descriptor)


def _without_tag(reference: ImageReference) -> str:
    """Returns the image's name without its tag beside a digest, since engines treat names with
    both differently.
    """
    if reference.digest:
        return f"{reference.name}@{reference.digest}"
    return f"{reference.name}:{reference.version}"
