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
from footplate.cli.dry_run import dry_run_option, finish
from footplate.cli.formats.layout import YAML, Layout
from footplate.cli.interruption import at_interrupt
from footplate.cli.kms_key import kms_key_name, kms_options
from footplate.cli.learn_from import learn_from_option
from footplate.cli.offering import offered
from footplate.cli.option_values import UserArgsCommand
from footplate.cli.session_options import with_session
from footplate.cli.show import format_option, render
from footplate.cli.stream_options import check_following, stream_logs_option
from footplate.domain.names import check_training_job_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.session import Session


@click.command("training", cls=UserArgsCommand)
@click.argument("job")
@program_options
@cluster_options
@click.option(
    "--region",
    envvar="CLOUDSDK_COMPUTE_REGION",
    metavar="REGION",
    shell_complete=offered("regions"),
    help="Region of the job; without it the file's, or us-central1.",
)
@account_options
@kms_options
@learn_from_option
@stream_logs_option
@dry_run_option
@format_option("yaml")
@with_session
def command(
    session: Session,
    /,
    job: str,
    layout: Layout,
    user_args: Sequence[str] | None,
    config: str | None,
    package_path: str | None,
    packages: list[str],
    staging_bucket: str | None,
    *,
    stream_logs: bool,
    detach: bool,
    dry_run: bool,
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

    \b
      footplate ai-platform jobs submit training census_20261121_0902 \\
          --config config.yaml --dry-run
    """
    check_following(follow=stream_logs, detach=detach)
    check_training_job_id(job)
    # Imported here: help texts need neither YAML nor the packager.
    from footplate.cli.ai_platform.jobs.submit.given_packages import GivenPackages
    from footplate.cli.ai_platform.jobs.submit.request import find_module, make_job
    from footplate.cli.config_file import read_config
    from footplate.cli.trials.summary import is_tuning

    content = read_config(Path(config), "ai-platform jobs submit training") if config else {}
    options["kms_key_name"] = kms_key_name(options, session.project)
    job_dir = options.get("job_dir")
    given = GivenPackages(
        job,
        package_path,
        packages,
        staging_bucket,
        str(job_dir) if job_dir else None,
        find_module(content, options),
    )
    at_interrupt("Interrupted; no job was submitted.")
    with session.connect() as service:
        service.health()
        uris = given.foretell() if dry_run else given.stage(service.storage)
        request = make_job(job, content, options, package_uris=uris, user_args=user_args)
        if dry_run:
            uploads = given.uploads()
            finish(service.validations.training_job(session.project, request, uploads), layout)
        created = service.training_jobs.create(session.project, request)
    tuning = is_tuning(created.resource)
    job_commands.go_on(session, created.name, tuning=tuning, follow=stream_logs, detach=detach)
    if layout == YAML:
        click.echo(f"jobId: {created.name.job_id}\nstate: {created.state.value}")
    else:
        click.echo(render(created.resource, layout, COLUMNS))
