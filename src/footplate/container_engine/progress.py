"""Computes the progress of a pull from the engine's messages. Pure.

Docker and Podman's Docker API send one JSON object for each change of a layer. Podman's own API,
used for registries that speak plain http, names layers without sizes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        """One object of the engine's stream."""
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
        """Whether bytes are expected of the registry: silence is its fault."""
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
