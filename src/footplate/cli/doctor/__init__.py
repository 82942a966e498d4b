"""``footplate doctor``: what this machine offers to jobs, and what follows from it."""

from __future__ import annotations

from footplate.cli.doctor.command import command

__all__ = ["command"]
