"""``footplate doctor``: checks what this machine offers to jobs."""

from __future__ import annotations

from footplate.cli.doctor.command import command

__all__ = ["command"]
