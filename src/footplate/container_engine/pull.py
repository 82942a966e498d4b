"""Pulls one image, one pull at a time on this machine, and reports progress."""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docker.errors import NotFound

from footplate.container_engine.engine_client import (
    EngineFailure,
    engine_client,
    gone,
    is_podman,
    registry_headers,
    stream,
)
from footplate.container_engine.error_messages import (
    PLAIN_HTTP,
    Credentials,
    explain,
    wrong_architecture,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import docker

    from footplate.container_engine.progress_output import Reporter
    from footplate.domain.image_reference import ImageReference


_STARTED = frozenset({"Pulling fs layer", "Waiting", "Downloading", "Verifying Checksum"})
_DOWNLOADED = frozenset({"Download complete", "Extracting"})
_DONE = frozenset({"Pull complete", "Already exists"})
_BLOB = "Copying blob "


@dataclass
class _Layer:
    done: int = 0
    total: int | None = None
    downloaded: bool = False
    unpacked: bool = False


@dataclass
class PullProgress:
    name: str
    _layers: dict[str, _Layer] = field(default_factory=dict)
    _unpacking: bool = False

    def take(self, event: Mapping[str, Any]) -> None:
        """Takes one object of the engine's stream."""
        status = event.get("status")
        identity = event.get("id")
        if text := event.get("stream"):
            if text.startswith(_BLOB):
                self._layers.setdefault(text[len(_BLOB) :].split()[0], _Layer())
        elif identity and status in _STARTED | _DOWNLOADED | _DONE:
            layer = self._layers.setdefault(identity, _Layer())
            _change(layer, status, event.get("progressDetail") or {})
            self._unpacking |= status == "Extracting"

    @property
    def downloading(self) -> bool:
        """Says whether bytes are expected of the registry: silence is its fault."""
        return not self._layers or any(
            not layer.downloaded and layer.total is not None for layer in self._layers.values()
        )

    @property
    def message(self) -> str:
        layers = list(self._layers.values())
        if not layers:
            return f"pulls {self.name}"
        if all(layer.total is None and not layer.downloaded for layer in layers):
            return f"pulls {self.name}: {_count(len(layers))}"
        if all(layer.downloaded for layer in layers) and self._unpacking:
            number = min(1 + sum(layer.unpacked for layer in layers), len(layers))
            return f"pulls {self.name}: unpacks layer {number} of {len(layers)}"
        number = min(1 + sum(layer.downloaded for layer in layers), len(layers))
        return f"pulls {self.name}: layer {number} of {len(layers)}, {_bytes(layers)}"


def _change(layer: _Layer, status: str, detail: Mapping[str, Any]) -> None:
    if status == "Downloading" and detail.get("total"):
        layer.total = max(int(detail["total"]), layer.total or 0)
        layer.done = max(int(detail.get("current", 0)), layer.done)
    if status in _DOWNLOADED | _DONE:
        layer.downloaded = True
        layer.done = layer.total or 0
    layer.unpacked |= status in _DONE


def _bytes(layers: list[_Layer]) -> str:
    done = sum(layer.done for layer in layers) // 10**6
    if any(layer.total is None and not layer.downloaded for layer in layers):
        return f"{done} MB so far"
    return f"{done} of {sum(layer.total or 0 for layer in layers) // 10**6} MB"


def _count(layers: int) -> str:
    return "1 layer" if layers == 1 else f"{layers} layers"


STALL_TIMEOUT_S = 120.0
"""The pull fails after so long without a byte of a registry."""

UNPACKING_LIMIT_S = 3600.0
"""The same for an engine that unpacks what has arrived, which takes long and is silent."""

STALL_NOTICE_S = 10.0
LIBPOD = "/v4.0.0/libpod/images/pull"
EMULATORS = Path("/proc/sys/fs/binfmt_misc")
_KERNEL_NAMES = {"amd64": "x86_64", "arm64": "aarch64", "386": "i386"}


def pull(
    socket: str,
    reference: ImageReference,
    lock_dir: Path,
    report: Reporter,
    silence_limit_s: float = STALL_TIMEOUT_S,
) -> None:
    """Raises EngineFailure with the reason in one sentence."""
    with _alone(reference, lock_dir, report) as waited, engine_client(socket) as client:
        if waited and _inspect(client, reference) is not None:
            return
        headers, credentials = registry_headers(reference)
        watch = _Watch(reference, report, silence_limit_s)
        _pull(client, reference, headers, credentials, watch)
        watch.done()
        image = _inspect(client, reference)
        if image is None:
            raise EngineFailure(gone(socket))
        _check_architecture(reference, image, str(client.version()["Arch"]))


def _pull(
    client: docker.APIClient,
    reference: ImageReference,
    headers: dict[str, str],
    credentials: Credentials,
    watch: _Watch,
) -> None:
    params = {"fromImage": reference.name, "tag": reference.version}
    path = f"/v{client.api_version}/images/create"
    error = _follow(stream(client, path, params, headers), watch.take)
    if error and PLAIN_HTTP in error and reference.on_loopback and is_podman(client):
        # Podman's Docker API has no option for plain http; its own API has.
        params = {"reference": _pulled(reference), "policy": "always", "tlsVerify": "false"}
        error = _follow(stream(client, LIBPOD, params, headers), watch.take)
    if error:
        raise EngineFailure(explain(error, reference, credentials))


def _follow(events: Iterator[dict[str, Any]], take: Callable[[dict[str, Any]], None]) -> str | None:
    """Returns the engine's error, or None."""
    for event in events:
        if error := event.get("error"):
            return str(error)
        take(event)
    return None


class _Watch:
    """Says how far the pull is, and ends the process when nothing comes any more."""

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

    def take(self, event: dict[str, Any]) -> None:
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
def _alone(reference: ImageReference, lock_dir: Path, report: Reporter) -> Iterator[bool]:
    """Keeps others from pulling the image in the block; yields whether one did until now."""
    lock_dir.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(str(reference).encode()).hexdigest()[:32]
    descriptor = os.open(lock_dir / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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


def _inspect(client: docker.APIClient, reference: ImageReference) -> dict[str, Any] | None:
    """Returns what the engine knows of the image; None if it doesn't have it."""
    try:
        found: dict[str, Any] = client.inspect_image(_pulled(reference))  # type: ignore[no-untyped-call]  # its decorator
    except NotFound:
        return None
    return found


def _pulled(reference: ImageReference) -> str:
    """Returns the name to pull: without a tag beside a digest, where engines disagree."""
    if reference.digest:
        return f"{reference.name}@{reference.digest}"
    return f"{reference.name}:{reference.version}"


def _check_architecture(reference: ImageReference, image: dict[str, Any], machine: str) -> None:
    """Raises EngineFailure for an image that this machine doesn't run or emulate."""
    wanted = image.get("Architecture") or machine
    if wanted != machine:
        kernel = _KERNEL_NAMES.get(wanted, wanted)
        if not (EMULATORS / f"qemu-{kernel}").exists():
            raise EngineFailure(wrong_architecture(reference, wanted, machine))
