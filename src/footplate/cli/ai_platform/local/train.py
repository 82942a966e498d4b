"""``footplate ai-platform local train``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.ai_platform.local.options import cluster_options, program_options
from footplate.cli.option_values import UserArgsCommand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.ai_platform.local.program import Program
    from footplate.client.service import Service
    from footplate.domain.names import GcsUri

_PROJECT = "local"
_STAGE = "footplate-local-train"
"""The private service's bucket for packages."""


@click.command("train", cls=UserArgsCommand)
@cluster_options
@program_options
def command(
    *,
    module_name: str,
    package_path: str,
    job_dir: str | None,
    distributed: bool,
    worker_count: int | None,
    parameter_server_count: int | None,
    evaluator_count: int | None,
    runtime_version: str | None,
    python_version: str | None,
    user_args: Sequence[str] | None,
) -> None:
    """Run a trainer here and now, as the job that it would be, and follow it to its end.

    The folder given by --package-path is packaged and installed into a runtime as by `jobs
    submit training`, in a service that this command starts and ends; `footplate up` need not run.
    The program starts in the folder around the package, so that relative paths after the bare --
    mean files there. It gets no GPU.

    With --distributed there are a master, workers and parameter servers, all on this machine. They
    start together, and TF_CONFIG tells each of the others. Lines begin with the replica's name.

    What is written to a gs:// job directory is removed with the service: to keep it, give a folder.

    Ends with 0 if the job succeeded, and with 1 if it failed. Ctrl-C cancels the job and waits for
    its end; nothing goes on.

    \b
    Examples:
      footplate ai-platform local train --package-path trainer/ \\
          --module-name trainer.task --job-dir output -- --epochs 3

    \b
      footplate ai-platform local train --package-path trainer/ \\
          --module-name trainer.task --distributed \\
          --worker-count 2 --parameter-server-count 1
    """
    # Imported here: help texts need neither the packager nor a client.
    from footplate.cli.ai_platform.local.cluster import cluster, local_job
    from footplate.cli.ai_platform.local.following import follow
    from footplate.cli.ai_platform.local.job_dir import read_job_dir
    from footplate.cli.ai_platform.local.private_service import private_service
    from footplate.cli.ai_platform.local.program import package_program
    from footplate.cli.ai_platform.local.runtime import require_version

    members = cluster(
        distributed=distributed,
        workers=worker_count,
        parameter_servers=parameter_server_count,
        evaluators=evaluator_count,
    )
    place = read_job_dir(job_dir)
    require_version(runtime_version, python_version)
    program = package_program(package_path, module_name)
    options = {
        "module_name": program.module,
        "job_dir": place,
        "runtime_version": runtime_version,
        "python_version": python_version,
    }
    with private_service(members.replicas) as connect:
        with connect() as service:
            uris = _stage(service, program, place)
            request = local_job(members, options, uris, user_args)
            name = service.training_jobs.create(_PROJECT, request).name
        job, interrupted = follow(connect, name, named=members.replicas > 1)
    job_commands.conclude(job, interrupted=interrupted)


def _stage(service: Service, program: Program, place: str | GcsUri | None) -> list[str]:
    """Make the buckets that the job names, and upload its packages; their URIs."""
    from footplate.cli.packaging.staging import check_names, stage
    from footplate.domain.names import GcsUri

    check_names(program.packages)
    buckets = [_STAGE]
    if isinstance(place, GcsUri):
        buckets.append(place.bucket)
        text = f"Note: {place} is a folder of this run, and removed with it; to keep what is "
        click.secho(f"{text}written, give --job-dir a folder.", err=True, fg="yellow")
    for bucket in dict.fromkeys(buckets):
        service.storage.create_bucket(_PROJECT, bucket)
    return stage(service.storage, GcsUri(_STAGE, ""), program.packages)
