"""``footplate ai-platform jobs submit training``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.ai_platform.jobs.columns import COLUMNS
from footplate.cli.ai_platform.jobs.submit.options import (
    account_options,
    cluster_options,
    program_options,
)
from footplate.cli.defaults import DEFAULT_REGION
from footplate.cli.formats.format_spec import YAML
from footplate.cli.gcloud_properties import default_region
from footplate.cli.job_submission import submitting_options
from footplate.cli.keyboard_interrupt import at_interrupt
from footplate.cli.kms_key import kms_key_name, kms_options
from footplate.cli.learn_from import learn_from_option
from footplate.cli.option_values import UserArgsCommand
from footplate.cli.output_format import render
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session
from footplate.domain.names import check_training_job_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.ai_platform.jobs.submit.options import PackageOptions
    from footplate.cli.job_submission import SubmissionOptions
    from footplate.cli.session import Session


@click.command("training", cls=UserArgsCommand)
@click.argument("job")
@program_options
@cluster_options
@click.option(
    "--region",
    metavar="REGION",
    shell_complete=offered("regions"),
    help="Region of the job. Without it the file's, CLOUDSDK_AI_PLATFORM_REGION, "
    "CLOUDSDK_COMPUTE_REGION, that of gcloud's configuration, or us-central1.",
)
@account_options
@kms_options
@learn_from_option
@submitting_options
@with_session
def command(
    session: Session,
    /,
    job: str,
    submitting: SubmissionOptions,
    config: str | None,
    packages: PackageOptions,
    user_args: Sequence[str] | None,
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
    check_training_job_id(job)
    # Imported here: help texts need neither YAML nor the packager.
    from footplate.cli.ai_platform.jobs.submit.draft import TrainingJobDraft
    from footplate.cli.config_file import read_config

    content = read_config(Path(config), "ai-platform jobs submit training") if config else {}
    options["default_region"] = default_region(os.environ, "ai_platform", DEFAULT_REGION)
    options["kms_key_name"] = kms_key_name(options, session.project)
    at_interrupt("Interrupted; no job was submitted.")
    draft = TrainingJobDraft(session.project, job, content, options, packages, user_args)
    created = submitting.submit(session, draft)
    if submitting.layout == YAML:
        click.echo(f"jobId: {created.name.job_id}\nstate: {created.state.value}")
    else:
        click.echo(render(created.resource, submitting.layout, COLUMNS))
