"""The report of an engine on itself."""

from __future__ import annotations

from dataclasses import dataclass

SLURM_LABELS = "footplate-slurm-"
"""Begins the labels that say how Slurm runs a job: a region must admit each."""


@dataclass(frozen=True)
class EngineReport:
    """A report for operators, in plain sentences: what the engine has, and what is wrong with it.

    Each problem comes with its solution.
    """

    reachable: bool
    facts: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
