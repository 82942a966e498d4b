"""Resource usage of a control group, version 1 or 2."""

from __future__ import annotations

from footplate.replica.file_io import read_text

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence


class Amounts:
    """None: no group counts it."""

    __slots__ = ("cpu_s", "memory_bytes", "transfers")

    def __init__(
        self,
        cpu_s: float | None,
        memory_bytes: int | None,
        transfers: tuple[int, int] | None,
    ) -> None:
        self.cpu_s = cpu_s
        self.memory_bytes = memory_bytes
        self.transfers = transfers
        """Bytes read from and written to disks."""


def read(groups: Sequence[str]) -> Amounts:
    """Of the program, whose groups these are, one in each hierarchy."""
    return Amounts(
        _first(_cpu_s(group) for group in groups),
        _first(_memory_bytes(group) for group in groups),
        _first(_transfers(group) for group in groups),
    )


def _first(found: Iterator[Any]) -> Any:
    return next((value for value in found if value is not None), None)


def _cpu_s(group: str) -> float | None:
    used_us = _entry(group, "cpu.stat", "usage_usec")
    if used_us is not None:
        return used_us / 1e6
    used_ns = _number(group, "cpuacct.usage")
    return None if used_ns is None else used_ns / 1e9


def _memory_bytes(group: str) -> int | None:
    """Without the files in it that were not used lately: the kernel gives them up when it must."""
    for total, idle in (
        ("memory.current", "inactive_file"),
        ("memory.usage_in_bytes", "total_inactive_file"),
    ):
        used = _number(group, total)
        if used is not None:
            return max(0, used - (_entry(group, "memory.stat", idle) or 0))
    return None


def _transfers(group: str) -> tuple[int, int] | None:
    """Of the unified hierarchy: version 1 doesn't see what is written by way of the cache."""
    text = _read(group, "io.stat")
    if text is None:
        return None
    pairs = [word.partition("=") for word in text.split()]
    return _sum(pairs, "rbytes"), _sum(pairs, "wbytes")


def _sum(pairs: Sequence[tuple[str, str, str]], name: str) -> int:
    return sum(int(value) for key, _, value in pairs if key == name)


def _entry(group: str, file: str, name: str) -> int | None:
    words = (_read(group, file) or "").split()
    return int(words[words.index(name) + 1]) if name in words else None


def _number(group: str, file: str) -> int | None:
    text = _read(group, file)
    return None if text is None else int(text)


def _read(group: str, file: str) -> str | None:
    try:
        return read_text(f"{group}/{file}")
    except OSError:
        return None
