"""Parses and prints sizes and durations."""

from __future__ import annotations

import re

import click

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_DURATION = re.compile(r"(\d{1,9})([smhdw])")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?([kmgt]?b)", re.IGNORECASE)


class Duration(click.ParamType[float]):
    """``30d`` in seconds."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        match = _DURATION.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} given; allowed: a number with s, m, h, d or w: 30d", param, ctx)
        return float(int(match[1]) * _SECONDS[match[2]])


class Size(click.ParamType[int]):
    """``20GB`` in bytes."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        match = _SIZE.fullmatch(str(value).strip())
        if match is None:
            allowed = "a number with B, KB, MB, GB or TB: 20GB"
            self.fail(f"{value!r} given; allowed: {allowed}", param, ctx)
        return int(float(match[1]) * _BYTES[match[2].lower()])


def size(count: int) -> str:
    """As disks are sold: a GB has 10^9 bytes."""
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= bytes_:
            return f"{count / bytes_:.1f} {unit}"
    return f"{count} B"


def ago(seconds: float) -> str:
    """How long ago something was, in the largest unit of which there are two."""
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now" if seconds < 60 else "a minute ago"
