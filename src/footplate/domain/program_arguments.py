"""The arguments and variables with which a replica's program starts, PyTorch's ranks among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from footplate.domain import algorithms, cluster_spec
from footplate.domain.cluster_spec import WORKER, task_type
from footplate.domain.jobs import Address, ContainerProgram, JobSpec, PythonProgram

FormDirectory = Callable[[str], str]


def torch_variables(
    spec: JobSpec, replica: str, addresses: Mapping[str, Address]
) -> dict[str, str]:
    """Returns the variables with which PyTorch's processes find each other.

    ``addresses`` has the address of every replica of the job, by name. The processes meet at the
    primary's own port, on which its program is to listen.
    """
    ranked = [
        name
        for name, pool, _ in spec.replicas()
        if pool is spec.primary or task_type(spec, pool) == WORKER
    ]
    if len(ranked) == 1 or replica not in ranked:
        return {}
    primary = addresses[ranked[0]]
    return {
        "MASTER_ADDR": primary.host,
        "MASTER_PORT": str(primary.port),
        "RANK": str(ranked.index(replica)),
        "WORLD_SIZE": str(len(ranked)),
    }


def arguments(
    spec: JobSpec,
    program: PythonProgram,
    form: FormDirectory,
    find_folder: Callable[[str], str] = str,
) -> tuple[str, ...]:
    """Returns the program's arguments: the user's first, then the job directory if one was given.

    ``form`` returns the form in which programs get a directory's URI. ``find_folder`` returns the
    folder of a bucket or job directory, for the built-in algorithms.
    """
    if algorithms.of_program(program) is not None:
        return algorithms.arguments(spec, program, find_folder)
    if spec.job_dir is None:
        return program.args
    return (*program.args, "--job-dir", form(spec.job_dir))


def container_arguments(
    spec: JobSpec, program: ContainerProgram, form: FormDirectory
) -> tuple[str, ...] | None:
    """Returns a container's arguments, like ``arguments``; None: the image's own apply."""
    if spec.job_dir is None:
        return program.args
    return (*(program.args or ()), "--job-dir", form(spec.job_dir))


def variables(
    spec: JobSpec, replica: str, job_id: str, addresses: Mapping[str, Address], form: FormDirectory
) -> tuple[tuple[str, str], ...]:
    """Returns the variables that the service sets, before the user's own; a later name wins.

    ``addresses`` has the address of every replica of the job, by name; if it is empty, no cluster
    variables are set.
    """
    return (
        ("CLOUD_ML_JOB_ID", job_id),
        *spec.environment,
        *(() if spec.trial is None else (("CLOUD_ML_TRIAL_ID", spec.trial),)),
        *_directories(spec, form),
        *((name, form(uri)) for name, uri in spec.data),
        *(_cluster(spec, replica, job_id, addresses) if addresses else ()),
    )


def starts(attempt: int, restart: int) -> tuple[tuple[str, str], ...]:
    """Returns the variables with the numbers of the attempt and of this replica's restart."""
    return ("FOOTPLATE_ATTEMPT", str(attempt)), ("FOOTPLATE_RESTART", str(restart))


def _cluster(
    spec: JobSpec, replica: str, job_id: str, addresses: Mapping[str, Address]
) -> Iterator[tuple[str, str]]:
    yield from cluster_spec.variables(spec, replica, addresses, cloud=job_id).items()
    yield from torch_variables(spec, replica, addresses).items()


def _directories(spec: JobSpec, form: FormDirectory) -> Iterator[tuple[str, str]]:
    for directory in spec.directories:
        if directory.variable is not None:
            yield directory.variable, form(directory.uri)
