"""Follows a pull by the events of the engine, and prints how far it is."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from dataclasses import dataclass, field

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping, NoReturn

MESSAGE_INTERVAL_S = 1.0
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
        text = event.get("stream")
        if text:
            if text.startswith(_BLOB):
                self._layers.setdefault(text[len(_BLOB) :].split()[0], _Layer())
        elif identity and status in _STARTED | _DOWNLOADED | _DONE:
            layer = self._layers.setdefault(identity, _Layer())
            _change(layer, status, event.get("progressDetail") or {})
            self._unpacking |= status == "Extracting"

    @property
    def downloading(self) -> bool:
        """Returns whether the pull still waits for bytes from the registry."""
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


class Reporter:
    """Prints JSON lines; several threads may use it.

    A message is printed if it differs from the last one, at most about once a second.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = ""
        self._next = 0.0

    def say(self, message: str, *, at_once: bool = False) -> None:
        with self._lock:
            now = time.monotonic()
            if message == self._last or (now < self._next and not at_once):
                return
            self._last, self._next = message, now + MESSAGE_INTERVAL_S
            write_line({"m": message})

    def fail(self, sentence: str) -> NoReturn:
        """Prints the error as the last line, and ends the process from whichever thread calls."""
        with self._lock:
            write_line({"error": sentence})
            os._exit(1)


def write_line(document: dict[str, Any]) -> None:
    """Prints a JSON line; ends this process if the reader is gone."""
    try:
        sys.stdout.write(json.dumps(document) + "\n")
        sys.stdout.flush()
    except OSError:  # the reader is gone
        os._exit(1)
