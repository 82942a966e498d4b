"""Packages a trainer, runs it, and follows it to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import click

from footplate.cli.ai_platform.local.cluster import cluster, local_job
from footplate.cli.ai_platform.local.job_dir import read_job_dir
from footplate.cli.ai_platform.local.program import package_program
from footplate.cli.local_runs.job_run import PROJECT, run_to_end
from footplate.cli.local_runs.runtime_check import require_version
from footplate.cli.packaging.staging import check_names, stage
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.ai_platform.local.options import LocalTrain
    from footplate.cli.ai_platform.local.program import Program
    from footplate.client.service import Service
    from footplate.domain.names import JobName

_STAGE = "footplate-local-train"
"""The private service's bucket for packages."""


def train_here(run: LocalTrain, user_args: Sequence[str] | None) -> NoReturn:
    """Package the trainer, run it, and end the process with it.

    Raises:
        InvalidArgument: there is no such package, module or runtime, or --job-dir is no place.
        FailedPrecondition: the private service can't start, or has died.
    """
    members = cluster(run)
    place = read_job_dir(run.job_dir)
    require_version(run.runtime_version, run.python_version)
    program = package_program(run.package_path, run.module_name)
    options = {
        "module_name": program.module,
        "job_dir": place,
        "runtime_version": run.runtime_version,
        "python_version": run.python_version,
    }

    def send(service: Service) -> JobName:
        request = local_job(members, options, _stage(service, program, place), user_args)
        return service.training_jobs.create(PROJECT, request).name

    run_to_end(send, members.replicas, seen=program.folder)


def _stage(service: Service, program: Program, place: str | GcsUri | None) -> list[str]:
    """Make the buckets that the job names, and upload its packages; their URIs."""
    check_names(program.packages)
    buckets = [_STAGE]
    if isinstance(place, GcsUri):
        buckets.append(place.bucket)
        text = f"Note: {place} is a folder of this run, and removed with it; to keep what is "
        click.secho(f"{text}written, give --job-dir a folder.", err=True, fg="yellow")
    for bucket in dict.fromkeys(buckets):
        service.storage.create_bucket(PROJECT, bucket)
    return stage(service.storage, GcsUri(_STAGE, ""), program.packages)
