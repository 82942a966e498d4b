"""The ``environment`` command: builds the environment in which a program runs.

It runs beside the supervisor, so it may use more of the standard library than that does.
"""

from __future__ import annotations

from footplate.replica.environment.command import check_packages, main

__all__ = ["check_packages", "main"]
