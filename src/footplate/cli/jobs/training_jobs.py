"""``footplate ai-platform jobs``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.defaults import DEFAULT_REGION, default_region
from footplate.cli.group import Entry, Group
from footplate.cli.jobs.kinds import TRAINING
from footplate.cli.jobs.options import (
    account_options,
    kms_key_name,
    kms_options,
    learn_from_option,
    submitting_options,
)
from footplate.cli.jobs.training_options import cluster_options, program_options, tf_config_options
from footplate.cli.jobs.verbs import TRIAL_OPTION, entry
from footplate.cli.keyboard_interrupt import at_interrupt
from footplate.cli.option_values import (
    DictValue,
    ListValue,
    RepeatableOption,
    UserArgsCommand,
    offered,
)
from footplate.cli.output_format import YAML, format_option, render
from footplate.cli.session import with_session
from footplate.domain.names import check_training_job_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.jobs.options import SubmissionOptions
    from footplate.cli.jobs.training_options import PackageOptions
    from footplate.cli.output_format import Layout
    from footplate.cli.session import Session


@click.command("training", cls=UserArgsCommand)
@click.argument("job")
@program_options
@cluster_options
@click.option(
    "--region",
    metavar="REGION",
    shell_complete=offered("regions"),
    help=(
        "Region of the job; the default is the --config file's region, "
        "CLOUDSDK_AI_PLATFORM_REGION, CLOUDSDK_COMPUTE_REGION, the region in gcloud's "
        "configuration, or us-central1."
    ),
)
@account_options
@tf_config_options
@kms_options
@learn_from_option
@submitting_options
@with_session
def training(
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
    beside it, or with one that footplate makes, in a copy: your tree stays as it is. What follows a
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
    from footplate.cli.config_file import read_config
    from footplate.cli.jobs.submission import submit
    from footplate.cli.jobs.training_job_draft import TrainingJobDraft

    content = read_config(Path(config), "ai-platform jobs submit training") if config else {}
    options["default_region"] = default_region(os.environ, "ai_platform", DEFAULT_REGION)
    options["kms_key_name"] = kms_key_name(options, session.project)
    at_interrupt("Interrupted; no job was submitted.")
    draft = TrainingJobDraft(session.project, job, content, options, packages, user_args)
    created = submit(session, submitting, draft)
    if submitting.layout == YAML:
        click.echo(f"jobId: {created.name.job_id}\nstate: {created.state.value}")
    else:
        click.echo(render(created.resource, submitting.layout, TRAINING.columns))


@click.command("update")
@click.argument("job", shell_complete=offered("jobs"))
@click.option(
    "--update-labels",
    cls=RepeatableOption,
    type=DictValue(),
    default={},
    metavar="KEY=VALUE,...",
    help="Labels to add, or to change the value of.",
)
@click.option("--clear-labels", is_flag=True, help="Remove all other labels.")
@click.option(
    "--remove-labels",
    cls=RepeatableOption,
    type=ListValue(),
    default=[],
    metavar="KEY,...",
    help="Take these away.",
)
@format_option("yaml")
@with_session
def update(
    session: Session,
    job: str,
    layout: Layout,
    update_labels: dict[str, str],
    remove_labels: list[str],
    *,
    clear_labels: bool,
) -> None:
    """Change the labels of a job in any state.

    With --clear-labels or --remove-labels, what --update-labels says comes last.

    \b
    Examples:
      footplate ai-platform jobs update census_20261121_0900 --update-labels=team=vision,rank=1
      footplate ai-platform jobs update census_20261121_0900 --remove-labels=rank
      footplate ai-platform jobs update census_20261121_0900 --clear-labels
    """
    if clear_labels and remove_labels:
        raise click.UsageError("--clear-labels and --remove-labels exclude each other")
    if not (update_labels or clear_labels or remove_labels):
        raise click.UsageError("give --update-labels, --remove-labels or --clear-labels")
    name = session.job(TRAINING, job)
    with session.connect() as service:
        changed = service.training_jobs.change_labels(
            name, put=update_labels, remove=remove_labels, clear=clear_labels
        )
    click.echo(f"Job {name.job_id} is updated.", err=True)
    click.echo(render(changed.resource, layout, TRAINING.columns))


_SUMMARIZE = click.option(
    "--summarize", is_flag=True, help="Show the job in small tables; --format then has no effect."
)
_SUBMIT = Group(
    "submit",
    (Entry("training", training, "Package a trainer and submit it."),),
    help="Submit a job.",
)

command = Group(
    "jobs",
    (
        Entry("submit", _SUBMIT, "Submit a job."),
        entry(TRAINING, "describe", _SUMMARIZE),
        entry(TRAINING, "list"),
        entry(TRAINING, "trials"),
        entry(TRAINING, "stream-logs", TRIAL_OPTION),
        entry(TRAINING, "events"),
        entry(TRAINING, "stacks"),
        entry(TRAINING, "usage"),
        entry(TRAINING, "ssh"),
        Entry("update", update, "Change the labels of a job."),
        entry(TRAINING, "cancel"),
    ),
    help="Submit and follow training jobs.",
)
