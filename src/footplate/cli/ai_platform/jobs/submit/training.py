"""``footplate ai-platform jobs submit training``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.ai_platform.jobs.columns import COLUMNS
from footplate.cli.ai_platform.jobs.submit.options import (
    account_options,
    cluster_options,
    program_options,
)
from footplate.cli.kms_key import kms_key_name, kms_options
from footplate.cli.option_values import UserArgsCommand
from footplate.cli.session import Session, with_session
from footplate.cli.show import format_option, render
from footplate.domain.names import check_training_job_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.packaging.archive import Archive
    from footplate.client.service import Service


@click.command("training", cls=UserArgsCommand)
@click.argument("job")
@program_options
@cluster_options
@click.option(
    "--region",
    envvar="CLOUDSDK_COMPUTE_REGION",
    metavar="REGION",
    help="Region of the job; without it the file's, or us-central1.",
)
@account_options
@kms_options
@click.option("--stream-logs", is_flag=True, help="Follow the job to its end.")
@click.option("--async", "detach", is_flag=True, help="Don't follow the job (the default).")
@format_option("yaml")
@with_session
def command(
    session: Session,
    /,
    job: str,
    layout: str,
    user_args: Sequence[str] | None,
    config: str | None,
    package_path: str | None,
    packages: list[str],
    staging_bucket: str | None,
    *,
    stream_logs: bool,
    detach: bool,
    **options: object,
) -> None:
    """Package a trainer, submit it as the job JOB, and follow it if you like.

    JOB is yours to choose: letters, digits and underscores, first a letter, each name once in a
    project. A base name with date and time keeps the jobs of one model together.

    The folder given by --package-path is built with the setup.py or pyproject.toml that stands
    beside it, or with a made-up one, in a copy: nothing is written in your tree. What follows a
    bare -- goes to your program as it is.

    \b
    Examples:
      footplate ai-platform jobs submit training census_20261121_0900 \\
          --package-path trainer/ --module-name trainer.task \\
          --job-dir gs://stage/census --stream-logs -- --epochs 3
    \b
      footplate ai-platform jobs submit training census_20261121_0901 \\
          --packages dist/trainer-0.1.tar.gz --module-name trainer.task \\
          --staging-bucket gs://stage --config config.yaml
    """
    if stream_logs and detach:
        raise click.UsageError("--async and --stream-logs exclude each other")
    check_training_job_id(job)
    # Imported here: help texts need neither YAML nor the packager.
    from footplate.cli.ai_platform.jobs.submit.request import make_job
    from footplate.cli.config_file import read_config

    content = read_config(Path(config)) if config else {}
    options["kms_key_name"] = kms_key_name(options, session.project)
    job_dir = options.get("job_dir")
    with session.connect() as service:
        service.health()
        uris = _stage(
            service, job, package_path, packages, staging_bucket, str(job_dir) if job_dir else None
        )
        request = make_job(job, content, options, package_uris=uris, user_args=user_args)
        created = service.training_jobs.create(session.project, request)
    job_commands.announce(session, created.name)
    if stream_logs:
        job_commands.stream_logs(session, created.name)
    elif layout == "yaml":
        click.echo(f"jobId: {created.name.job_id}\nstate: {created.state.value}")
    else:
        click.echo(render(created.resource, layout, COLUMNS))


def _stage(
    service: Service,
    job: str,
    package_path: str | None,
    packages: list[str],
    staging_bucket: str | None,
    job_dir: str | None,
) -> list[str]:
    """Build and upload what is local; the URIs of all packages, the built one first."""
    from footplate.cli.packaging.staging import (
        check_names,
        read_package,
        stage,
        staging_location,
    )

    remote = [package for package in packages if package.startswith("gs://")]
    local = [read_package(package) for package in packages if not package.startswith("gs://")]
    if package_path is None and not local:
        return remote
    location = staging_location(job, staging_bucket, job_dir)
    if location is None:
        raise click.UsageError(
            "local packages want --staging-bucket or --job-dir, to be uploaded to"
        )
    built = [_build(package_path)] if package_path is not None else []
    check_names([*built, *local])
    return [*stage(service.storage, location, [*built, *local]), *remote]


def _build(package_path: str) -> Archive:
    from footplate.cli.packaging.trainer import build_package

    folder = Path(package_path).expanduser()
    if folder.is_dir():  # else the refusal says all
        click.secho(f"Packaging {package_path}", err=True, dim=True)
    package = build_package(folder)
    for note in package.notes:
        click.secho(f"Note: {note}", err=True, fg="yellow")
    return package.archive
