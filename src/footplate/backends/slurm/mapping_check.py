"""Asks Slurm whether it would take jobs for the machines of a region's mapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from footplate.backends.engine.engine import EngineUnavailable, LauncherRequest
from footplate.ports.engines import EngineReport

Ask = Callable[[LauncherRequest], str | None]

MAX_ASKED = 64
"""The most machine types and accelerators: each is a command of Slurm's."""


def check_mapping(
    report: EngineReport, ask: Ask, samples: Mapping[str, LauncherRequest]
) -> EngineReport:
    """Returns ``report`` with the problems of ``samples``, which are keyed by their settings.

    ``ask`` returns why Slurm would reject a job; None if it wouldn't.
    """
    if not report.reachable or report.problems:
        return report
    wrong: list[str] = []
    for name, sample in list(samples.items())[:MAX_ASKED]:
        try:
            said = ask(sample)
        except EngineUnavailable as error:
            return replace(report, problems=(*wrong, f"Slurm does not answer: {error}"))
        if said is not None:
            wrong.append(
                f"machine type {name}: Slurm would refuse a job: {said}; change the type's options"
            )
    return replace(report, problems=tuple(wrong))
