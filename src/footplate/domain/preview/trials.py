"""The plan of a tuning job's trials. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.tuning.trial_spec import run_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.jobs import JobSpec
    from footplate.domain.tuning.search import SearchRequest

OPEN = "..."
"""Stands for the value of a parameter, which the search chooses."""


def first_trial(spec: JobSpec, search: SearchRequest, job_id: str) -> JobSpec:
    """What trial 1 runs. Parameters that a job has from the one it resumes aren't known here."""
    slots = search.space.slots if search.space is not None else ()
    names = dict.fromkeys(slot.parameter.name for slot in slots)
    given = tuple(f"--{name}={OPEN}" for name in names)
    return run_spec(spec, given, (), 1, job_id)


def trial_steps(spec: JobSpec, search: SearchRequest) -> Iterator[str]:
    """``spec`` of each trial."""
    counts, machines = search.counts, len(spec.replica_names())
    trials = "1 trial" if counts.trials == 1 else f"{counts.trials} trials"
    each = "1 machine" if machines == 1 else f"{machines} machines"
    at_once = min(counts.parallel, counts.trials)
    together = "one after the other" if at_once == 1 else f"{at_once} at a time"
    yield f"The search runs {trials} of {each}" + (f", {together}." if counts.trials > 1 else ".")
    yield "Each trial runs like trial 1, shown here, with its own values and directories."
    if search.space is None and search.resumes is not None:
        yield f"Each gets the parameters of {search.resumes}, whose search goes on, too."
