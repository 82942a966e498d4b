"""Jobs of Slurm with components, where replicas need different options. Pure.

Slurm starts all components of a job or none, each with options and a job id of its own. One step
for all of them would pass its standard input to one alone: so each has a step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.ports.backend import EndCause

CANCELLED = EndCause.CANCELLED
_COMPONENT = re.compile(r"(\d+)\+\d+")
_AS_ONE = (
    "SLURM_PROCID=$((SLURM_PROCID + $1)) SLURM_JOB_ID=$2; "
    'export SLURM_PROCID SLURM_JOB_ID; shift 2; exec "$@"'
)
"""Gives the tasks of a component the ranks and the job id that one step for all would give."""


def step_lines(sizes: Sequence[int], srun: str, python: str, program: str, end: str) -> list[str]:
    """Returns lines of a script with a step for each component; ``sizes`` are their tasks.

    The steps' exit status is in CODE. ``end`` is a line that the program doesn't have.
    """
    lines = ["print_program() {", f"cat <<'{end}'", program, end, "}", "STEPS="]
    for number, size in enumerate(sizes):
        cpus = f"SLURM_CPUS_PER_TASK_HET_GROUP_{number}"
        lines.append(
            f"print_program | {srun} --het-group={number} --ntasks={size} "
            f"${{{cpus}:+--cpus-per-task=${cpus}}} /bin/sh -c '{_AS_ONE}' sh "
            f'{sum(sizes[:number])} "$SLURM_JOB_ID" {python} >>"$LOG" 2>&1 & STEPS="$STEPS $!"'
        )
    # A signal ends a wait, and not the step.
    wait = 'wait "$STEP"; ENDED=$?; while kill -0 "$STEP" 2>&-; do wait "$STEP"; ENDED=$?; done'
    end_of_all = f'{wait}; [ "$ENDED" = 0 ] || CODE=$ENDED'
    return [*lines, f"CODE=0; for STEP in $STEPS; do {end_of_all}; done"]


def join_components(jobs: Iterable[EngineJob]) -> tuple[EngineJob, ...]:
    """Returns the jobs, with one in place of components such as ``7+0`` and ``7+1``."""
    found: dict[str, list[EngineJob]] = {}
    for job in jobs:
        found.setdefault(_whole(job), []).append(job)
    return tuple(_join(whole, components) for whole, components in found.items())


def _whole(job: EngineJob) -> str:
    found = _COMPONENT.fullmatch(job.id)
    return found[1] if found else job.id


def _join(whole: str, components: Sequence[EngineJob]) -> EngineJob:
    """Returns the job as a whole: it runs while a component does, and has ended when all have."""
    first = components[0]
    if first.id == whole:
        return first
    if len(components) == 1 and first.cause is CANCELLED and not first.nodes:
        # Slurm refused another one, and cancelled what it had taken of the job.
        reason = f"Slurm refused a component of job {whole}"
        return replace(first, id=whole, reason=reason, cause=EndCause.UNKNOWN, refused=True)
    phases = {each.phase for each in components}
    if JobPhase.RUNNING in phases:
        phase = JobPhase.RUNNING
    else:
        phase = JobPhase.ENDED if phases == {JobPhase.ENDED} else JobPhase.WAITING
    return EngineJob(
        whole,
        first.name,
        phase,
        next(_reasons(components, phase), ""),
        ",".join(each.nodes for each in components if each.nodes),
        cause=_find_cause(components),
        refused=phase is JobPhase.ENDED and any(each.refused for each in components),
        lost=any(each.lost for each in components),
        suspended=any(each.suspended for each in components),
        ending=all(each.ending or each.phase is JobPhase.ENDED for each in components)
        and phase is JobPhase.RUNNING,
    )


def _find_cause(components: Sequence[EngineJob]) -> EndCause:
    """Returns how the job ended: somebody's cancellation counts more than what it caused."""
    causes = [each.cause for each in components if each.cause is not EndCause.UNKNOWN]
    return CANCELLED if CANCELLED in causes else next(iter(causes), EndCause.UNKNOWN)


def _reasons(components: Sequence[EngineJob], phase: JobPhase) -> Iterator[str]:
    """Yields the reasons of the components that are in the job's phase; of cancelled ones first."""
    for each in sorted(components, key=lambda job: job.cause is not CANCELLED):
        if each.phase is phase and each.reason:
            yield each.reason
