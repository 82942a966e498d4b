"""A fence command that notes which nodes it was called for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def make_fence(folder: Path, *lines: str) -> tuple[str, ...]:
    """A program, with an argument of its own, that runs ``lines`` after its note."""
    program = folder / "fence node"
    script = ("#!/bin/sh", f'[ "$#:$1" = 2:--off ] && echo "$2" >> "{folder}/fenced"', *lines)
    program.write_text("\n".join((*script, "")))
    program.chmod(0o700)
    return (str(program), "--off")


def fenced_nodes(folder: Path) -> list[str]:
    """The names that it was called with."""
    file = folder / "fenced"
    return file.read_text().splitlines() if file.exists() else []
