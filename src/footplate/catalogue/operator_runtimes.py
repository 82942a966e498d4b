"""Reads the operator's own runtimes: ``[runtimes.NAME]`` tables, with lock files beside them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from footplate.catalogue import names
from footplate.catalogue.document import Document, shown
from footplate.catalogue.draft import OwnRuntimes
from footplate.catalogue.toml_table import Table
from footplate.domain.formatting import nearest
from footplate.domain.runtimes import Offer, Runtime, Runtimes, Slice

_MAX_LOCK_BYTES = 4 << 20
_REQUIREMENT = re.compile(r"\n(?=[^\s#])")
_LOCK_FORM = (
    "a lock file that `uv pip compile --generate-hashes` wrote, with NAME==VERSION and "
    "--hash=sha256: for each package"
)


def read_own_runtimes(root: Table, folder: Path) -> OwnRuntimes:
    """Reads ``[runtimes]`` and ``default_runtime``; lock files are in ``folder``."""
    locks: dict[str, str] = {}
    entries = root.table("runtimes").entries(names.RUNTIME, names.RUNTIME_FORM)
    offers = tuple(_offer(name, table, folder, locks) for name, table in entries)
    default = root.text("default_runtime") if "default_runtime" in root else ""
    root.ask("default_runtime")
    return OwnRuntimes(offers, locks, default)


def with_own(
    below: Runtimes, own: OwnRuntimes, removed: tuple[str, ...], document: Document
) -> Runtimes:
    """Adds an operator's runtimes, which take over their versions and images from others."""
    known = [offer.runtime.name for offer in below.offers]
    for index, name in enumerate(removed):
        if name not in known:
            text = f"{shown(name)} given, which isn't in the catalogue; "
            document.fault(("remove", "runtimes", index), text + nearest(name, known, "runtimes"))
    named = {name for offer in own.offers for name in (*offer.versions, *offer.images)}
    replaced = {offer.runtime.name for offer in own.offers} | set(removed)
    kept = [_less(offer, named) for offer in below.offers if offer.runtime.name not in replaced]
    offers = (*own.offers, *(offer for offer in kept if offer.versions or offer.images))
    found = Runtimes(offers, own.default or below.default, {**below.locks, **own.locks})
    versions = [version for offer in offers for version in offer.versions]
    if found.default not in versions:
        hint = nearest(found.default, versions, "runtime versions")
        text = f"the default is version {shown(found.default)}, which no runtime has; {hint}"
        document.fault(("default_runtime",), text)
    return found


def _less(offer: Offer, names: set[str]) -> Offer:
    return replace(
        offer,
        versions=tuple(name for name in offer.versions if name not in names),
        images=tuple(name for name in offer.images if name not in names),
    )


def _offer(name: str, table: Table, folder: Path, locks: dict[str, str]) -> Offer:
    python = table.text("python")
    if python and not names.PYTHON.fullmatch(python):
        table.fault("python", f"{shown(python)} given; allowed: a version such as 3.11")
    offer = Offer(
        Runtime(
            name=name,
            python=python,
            cpu=tuple(_slices(table, "cpu", folder, locks)),
            gpu=tuple(_slices(table, "gpu", folder, locks)),
            machine_cuda=table.text("machine_cuda") if "machine_cuda" in table else "",
        ),
        versions=_names(table, "versions", names.RUNTIME_VERSION, "a version such as 2.30"),
        images=_names(
            table, "images", names.IMAGE, "the name of an image, such as tf-cpu.2-30.py311"
        ),
    )
    table.close()
    if not offer.runtime.cpu:
        table.fault(
            "",
            (
                "this runtime has no packages; give one or more [[...cpu]] tables, "
                "each with name and lock"
            ),
        )
    if not (offer.versions or offer.images):
        table.fault("", "no job can choose this runtime; give versions, images, or both")
    return offer


def _names(table: Table, key: str, form: re.Pattern[str], like: str) -> tuple[str, ...]:
    found = table.texts(key)
    for name in found:
        if not form.fullmatch(name):
            table.fault(key, f"{shown(name)} given; allowed: {like}")
    return found


def _slices(table: Table, key: str, folder: Path, locks: dict[str, str]) -> Iterator[Slice]:
    for entry in table.tables(key):
        text = _read_lock(entry, folder)
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        locks[sha256] = text
        yield Slice(
            name=entry.text("name"),
            lock_sha256=sha256,
            unless=entry.texts("unless"),
            fallback=entry.flag("fallback"),
        )
        entry.close()


def _read_lock(table: Table, folder: Path) -> str:
    """Reads a lock file; returns '' and records a fault if it can't be read."""
    given = table.text("lock")
    if not given:
        return ""
    path = folder / given
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_LOCK_BYTES + 1)
        text = raw.decode()
    except OSError as error:
        table.fault("lock", f"{path} can't be read: {error.strerror}")
        return ""
    except UnicodeDecodeError:
        table.fault("lock", f"the file {path} is not UTF-8 text")
        return ""
    wrong = _fault_of(text) if len(raw) <= _MAX_LOCK_BYTES else "the file is larger than 4 MiB"
    if wrong:
        table.fault("lock", f"{path}: {wrong}; allowed: {_LOCK_FORM}")
        return ""
    return text


def _fault_of(text: str) -> str:
    """Returns why the text isn't a lock file; empty: it is one."""
    lines = [part for part in _REQUIREMENT.split(f"\n{text}") if part.strip()]
    pins = [part for part in lines if not part.lstrip().startswith("#")]
    for pin in pins:
        if "==" not in pin or "--hash=sha256:" not in pin:
            return f"the line {shown(pin.splitlines()[0])} has no version or no hash"
    return "" if pins else "the file pins no packages"
