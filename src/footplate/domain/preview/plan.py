"""The plan of a job: what would run where, in which order, and its trials. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from footplate.domain import program_arguments
from footplate.domain.admission.claims import counts_of
from footplate.domain.catalogue import Catalogue
from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.containers import gcs_path
from footplate.domain.directory_form import DirectoryForm
from footplate.domain.errors import InvalidArgument
from footplate.domain.jobs import (
    Address,
    ContainerProgram,
    DiskSpec,
    JobSpec,
    PythonProgram,
    Scheduling,
    WorkerPool,
)
from footplate.domain.machine_hours import NO_PRICES, Prices, hours_of, say_cost, say_hours
from footplate.domain.machines import accelerators_of, zones_for
from footplate.domain.preview.reducers import bandwidth_step
from footplate.domain.resources import Amounts
from footplate.domain.sites import Mode, Site, gpu_assignment
from footplate.domain.tuning.search import SearchRequest
from footplate.domain.tuning.trial_spec import run_spec

OPEN = "..."
"""Stands for the value of a parameter, which the search chooses."""


def first_trial(spec: JobSpec, search: SearchRequest, job_id: str, number: int = 1) -> JobSpec:
    """Returns the spec that trial ``number`` runs.

    If the job resumes another one, the parameters that it gets from that job aren't known here.
    """
    slots = search.space.slots if search.space is not None else ()
    names = dict.fromkeys(slot.parameter.name for slot in slots)
    given = tuple(f"--{name}={OPEN}" for name in names)
    return run_spec(spec, given, (), number, job_id)


def trial_steps(spec: JobSpec, search: SearchRequest, first: int = 1) -> Iterator[str]:
    """Yields sentences on the trials of a search.

    ``spec`` is the job of each trial, ``first`` the number of the first trial.
    """
    counts, machines = search.counts, len(spec.replica_names())
    trials = "1 trial" if counts.trials == 1 else f"{counts.trials} trials"
    each = "1 machine" if machines == 1 else f"{machines} machines"
    at_once = min(counts.parallel, counts.trials)
    together = "one after the other" if at_once == 1 else f"{at_once} at a time"
    yield f"The search runs {trials} of {each}" + (f", {together}." if counts.trials > 1 else ".")
    yield f"Each trial runs like trial {first}, shown here, with its own values and directories."
    if first > 1:
        yield f"Its trials are numbered from {first} on, after the trials of earlier searches."
    if search.space is None and search.resumes is not None:
        yield (
            f"Each trial gets the parameters of {search.resumes}, whose search this job continues."
        )


JOB_ID = "JOB_ID"
"""Stands for an id that the service chooses when the job is made."""
PORT, OPEN_PORT = 2222, 3333
"""The cloud's; here each replica gets ports of its own, which are found when it starts."""

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


@dataclass(frozen=True)
class PlannedMachine:
    """The machine of each replica of a pool; ``vcpus`` and ``memory_gb`` are None if unknown."""

    machine_type: str
    vcpus: int | None
    memory_gb: float | None
    accelerator: str | None
    accelerator_count: int
    disk: DiskSpec


@dataclass(frozen=True)
class PlannedProgram:
    """The program of a pool: ``runtime``, ``python`` and ``module``, or ``image``."""

    runtime: str | None = None
    python: str | None = None
    module: str | None = None
    packages: tuple[str, ...] = ()
    image: str | None = None
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    """None: the image's own."""


@dataclass(frozen=True)
class PlannedPool:
    """A pool in the plan; ``variables`` are set by the service on the first replica.

    Other replicas differ in the ``index`` in the cluster description, in ``RANK``, and in the GPUs
    that they see. The GPUs shown are the first ones of the site, as if nothing else ran.
    """

    role: str
    replicas: tuple[str, ...]
    machine: PlannedMachine
    program: PlannedProgram
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Plan:
    """The plan of a job.

    ``pools`` are in order, the primary one first; ``steps`` are sentences, in order of time.
    """

    region: str
    zone: str | None
    mode: Mode | None
    """None: an engine has the machines, and ``limits`` says what it enforces."""
    pools: tuple[PlannedPool, ...]
    steps: tuple[str, ...]
    counts: Amounts
    """Against the project's quota in the region."""
    holds: Amounts
    """Of what the region is bound to, while it runs."""
    limits: str = ""


def plan(
    spec: JobSpec,
    catalogue: Catalogue,
    site: Site,
    *,
    job_id: str = JOB_ID,
    search: SearchRequest | None = None,
    first: int = 1,
    prices: Prices = NO_PRICES,
) -> Plan:
    """Makes the plan of a job.

    ``search`` is the search of a tuning job; the plan is then of its first trial, number ``first``.
    """
    before = () if search is None else tuple(trial_steps(spec, search, first))
    if search is not None:
        spec = first_trial(spec, search, job_id, first)
    planner = _Planner(spec, catalogue, site, job_id)
    zones = zones_for([pool.machine for pool in spec.pools], spec.region, catalogue)
    return Plan(
        region=spec.region,
        zone=zones[0] if zones else None,
        mode=site.mode if site.engine is None else None,
        pools=tuple(planner.pool(pool) for pool in spec.pools if pool.replica_count),
        steps=(
            *before,
            *_steps(spec),
            *bandwidth_step(spec.pools, catalogue),
            *_cost_step(spec, catalogue, prices, 1 if search is None else search.counts.trials),
        ),
        counts=counts_of(spec, catalogue),
        holds=site.held_by(spec, catalogue),
        limits="" if site.engine is None else site.engine.limits,
    )


class _Planner:
    def __init__(
        self,
        spec: JobSpec,
        catalogue: Catalogue,
        site: Site,
        job_id: str,
    ) -> None:
        self._spec = spec
        self._catalogue = catalogue
        self._site = site
        self._job_id = job_id
        self._form = str if spec.directory_form is DirectoryForm.URIS else gcs_path
        self._addresses = {name: Address(name, PORT, (OPEN_PORT,)) for name in spec.replica_names()}
        self._devices = gpu_assignment.assign(spec, catalogue, site, ()) or {}

    def pool(self, pool: WorkerPool) -> PlannedPool:
        return PlannedPool(
            role=pool.cluster_role,
            replicas=pool.replica_names(),
            machine=self._machine(pool),
            program=self._program(pool),
            variables=self._variables(pool),
        )

    def _machine(self, pool: WorkerPool) -> PlannedMachine:
        kind = self._catalogue.machine_types.get(pool.machine.machine_type)
        accelerator, count = accelerators_of(pool.machine, self._catalogue)
        return PlannedMachine(
            machine_type=pool.machine.machine_type,
            vcpus=kind.vcpus if kind else None,
            memory_gb=kind.memory_gb if kind else None,
            accelerator=accelerator,
            accelerator_count=count,
            disk=pool.disk,
        )

    def _program(self, pool: WorkerPool) -> PlannedProgram:
        program = pool.program
        match program:
            case PythonProgram():
                name, python = _runtime(program, pool.field, self._catalogue)
                return PlannedProgram(
                    runtime=name,
                    python=python,
                    module=program.module or None,
                    command=program.command or None,
                    packages=program.package_uris,
                    args=program_arguments.arguments(self._spec, program, self._form),
                )
            case ContainerProgram():
                args = program_arguments.container_arguments(self._spec, program, self._form)
                return PlannedProgram(image=program.image_uri, command=program.command, args=args)
            case _:
                assert_never(program)

    def _variables(self, pool: WorkerPool) -> tuple[tuple[str, str], ...]:
        """Returns the variables that the service sets, except those that the user's own replace."""
        replica, own = pool.replica_names()[0], dict(pool.environment)
        given = program_arguments.variables(
            self._spec, replica, self._job_id, self._addresses, self._form
        )
        held = self._devices.get(replica, ())
        added = gpu_assignment.variables(pool.machine, held, self._catalogue, self._site, own)
        kept = {name: value for name, value in given if name not in own}
        return tuple((kept | added).items())


def _runtime(program: PythonProgram, field: str, catalogue: Catalogue) -> tuple[str, str | None]:
    """Returns the runtime's name and Python version; for an unknown runtime, its requested name."""
    try:
        runtime = catalogue.runtimes.resolve(program.runtime, field)
    except InvalidArgument:
        return program.runtime, None
    return runtime.name, runtime.python


def _steps(spec: JobSpec) -> Iterator[str]:
    scheduling, names = spec.scheduling, spec.replica_names()
    if not names:
        return
    room = "for its replica" if len(names) == 1 else f"for all {len(names)} replicas at once"
    order = f" with priority {scheduling.priority}" if scheduling.priority else ""
    yield f"The job starts{order} as soon as there is room {room}."
    if scheduling.max_wait_time_s is not None:
        yield (
            f"The server cancels the job if it isn't running "
            f"{words(scheduling.max_wait_time_s)} after it was submitted."
        )
    primary = names[0]
    if len(names) > 1:
        yield f"All {len(names)} replicas start together, from {primary} to {names[-1]}."
    yield from _ends(spec, primary, alone=len(names) == 1)
    if scheduling.max_running_time_s > 0:
        yield (
            "The server cancels the job when it has run for "
            f"{words(scheduling.max_running_time_s)}."
        )
    yield from _restarts(scheduling, alone=len(names) == 1)


def _restarts(scheduling: Scheduling, *, alone: bool) -> Iterator[str]:
    again, all_again = scheduling.max_restarts, scheduling.max_retries
    if again + all_again == 0:
        yield "If a machine is lost, the job fails."
    elif alone or scheduling.restarts_together or again == 0:
        whole = "the job starts" if alone else "all replicas start"
        yield f"If a machine is lost, {whole} again, at most {times(again + all_again)}."
    else:
        yield f"A replica whose machine is lost starts again in place, at most {times(again)}."
        if all_again:
            yield f"After that all replicas start again, at most {times(all_again)}."


def _cost_step(spec: JobSpec, catalogue: Catalogue, prices: Prices, trials: int) -> Iterator[str]:
    """Yields the highest cost, if all prices are known and the job's time is limited."""
    limit_s = spec.scheduling.max_running_time_s
    hours = hours_of(spec, catalogue, limit_s * trials)
    cost = prices.cost(hours)
    if cost is not None and limit_s > 0:
        yield f"The job costs at most {say_cost(cost, prices.currency)}, for {say_hours(hours)}."


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _ends(spec: JobSpec, primary: str, *, alone: bool) -> Iterator[str]:
    if alone:
        yield f"The job ends when replica {primary} ends, with the same result."
        return
    yield (
        f"The job ends when replica {primary} ends, with the same result; then the server stops "
        "the others."
    )
    if any(role_of(pool) in _AWAITED and pool.replica_count for pool in spec.pools[1:]):
        yield (
            "If another replica's program fails before that, the others go on. The job fails only "
            "if all of them then print nothing and stay idle (setting hang_s)."
        )


_AWAITED = frozenset(ClusterRole) - {ClusterRole.PRIMARY, ClusterRole.EVALUATOR}
"""Parts for which the primary may wait in vain; an evaluator only looks on."""


def words(duration_s: float) -> str:
    """Formats a duration in the largest unit that divides it: ``7 days``."""
    for unit, name in ((_DAY_S, "day"), (_HOUR_S, "hour"), (_MINUTE_S, "minute")):
        if duration_s >= unit and duration_s % unit == 0:
            number = int(duration_s // unit)
            return f"{number} {name}{'' if number == 1 else 's'}"
    return f"{duration_s:g} second{'' if duration_s == 1 else 's'}"
