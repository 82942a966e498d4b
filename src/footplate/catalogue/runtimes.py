"""Loads the built-in runtimes with the texts of their lock files."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import NotRequired, TypedDict, cast

from footplate.domain.runtimes import Offer, Runtime, Runtimes, Slice


class _SliceTable(TypedDict):
    name: str
    lock: str
    unless: NotRequired[list[str]]
    fallback: NotRequired[bool]


class _RuntimeTable(TypedDict):
    name: str
    python: str
    versions: NotRequired[list[str]]
    images: NotRequired[list[str]]
    cpu: list[_SliceTable]
    gpu: NotRequired[list[_SliceTable]]
    machine_cuda: NotRequired[str]


class _Catalogue(TypedDict):
    default: str
    runtimes: list[_RuntimeTable]


def load() -> Runtimes:
    """Loads the built-in runtimes."""
    data = cast("_Catalogue", tomllib.loads(_read("runtimes.toml")))
    locks = _Locks()
    offers = tuple(_offer(table, locks) for table in data["runtimes"])
    return Runtimes(offers, data["default"], locks.texts())


class _Locks:
    """The texts of the lock files that slices name, each read once."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def sha256(self, name: str) -> str:
        if name not in self._texts:
            self._texts[name] = _read("locks", name)
        return hashlib.sha256(self._texts[name].encode()).hexdigest()

    def texts(self) -> Mapping[str, str]:
        return {hashlib.sha256(text.encode()).hexdigest(): text for text in self._texts.values()}


def _offer(table: _RuntimeTable, locks: _Locks) -> Offer:
    runtime = Runtime(
        name=table["name"],
        python=table["python"],
        cpu=_slices(table["cpu"], locks),
        gpu=_slices(table.get("gpu", ()), locks),
        machine_cuda=table.get("machine_cuda", ""),
    )
    return Offer(runtime, tuple(table.get("versions", ())), tuple(table.get("images", ())))


def _slices(tables: Iterable[_SliceTable], locks: _Locks) -> tuple[Slice, ...]:
    return tuple(
        Slice(
            name=table["name"],
            lock_sha256=locks.sha256(table["lock"]),
            unless=tuple(table.get("unless", ())),
            fallback=table.get("fallback", False),
        )
        for table in tables
    )


def _read(*path: str) -> str:
    return resources.files(__package__).joinpath(*path).read_text(encoding="utf-8")
