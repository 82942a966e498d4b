"""``footplate ai hp-tuning-jobs``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.group import Entry, Group
from footplate.cli.jobs.kinds import TUNING
from footplate.cli.jobs.options import (
    create_options,
    display_name_option,
    kms_key_name,
    learn_from_option,
)
from footplate.cli.jobs.verbs import TRIAL_OPTION, entry
from footplate.cli.keyboard_interrupt import at_interrupt
from footplate.cli.output_format import render
from footplate.cli.session import with_session

if TYPE_CHECKING:
    from footplate.cli.jobs.options import SubmissionOptions
    from footplate.cli.session import Session


@click.command("create")
@display_name_option
@click.option(
    "--config",
    type=click.Path(),
    required=True,
    metavar="FILE",
    help=(
        "YAML file with studySpec, trialJobSpec and, optionally, trial counts; options "
        "override the file."
    ),
)
@click.option(
    "--max-trial-count",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of trials in all; the default is the number in the --config file, or 1.",
)
@click.option(
    "--parallel-trial-count",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of trials at a time; the default is the number in the --config file, or 1.",
)
@click.option(
    "--algorithm",
    type=click.Choice(["algorithm-unspecified", "grid-search", "random-search"]),
    help="Algorithm that chooses the parameters; algorithm-unspecified means Bayesian search.",
)
@learn_from_option
@create_options
@with_session
def create(
    session: Session,
    /,
    region: str,
    submitting: SubmissionOptions,
    display_name: str,
    config: str,
    **options: object,
) -> None:
    """Create a tuning job: it runs your trainer again and again, and searches for the best
    hyperparameters.

    Each trial is a run of trialJobSpec with --NAME=VALUE added to its arguments for each
    parameter. It reports its metric with the cloudml-hypertune package, or as a TensorFlow
    summary.

    \b
    A file for --config:
      studySpec:
        metrics: [{metricId: rmse, goal: MINIMIZE}]
        parameters:
        - parameterId: learning_rate
          doubleValueSpec: {minValue: 0.0001, maxValue: 0.1}
          scaleType: UNIT_LOG_SCALE
      trialJobSpec:
        workerPoolSpecs:
        - machineSpec: {machineType: n1-standard-4}
          replicaCount: 1
          pythonPackageSpec:
            executorImageUri: us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest
            packageUris: [gs://stage/trainer.tar.gz]
            pythonModule: trainer.task

    \b
    Examples:
      footplate ai hp-tuning-jobs create --display-name=census --config=hptuning.yaml \\
          --max-trial-count=40 --parallel-trial-count=4
      footplate ai hp-tuning-jobs create --display-name=census --config=hptuning.yaml --dry-run
    """
    # Imported here: help texts need no YAML.
    from footplate.cli.config_file import read_config
    from footplate.cli.jobs.submission import submit
    from footplate.cli.jobs.tuning_job_draft import TuningJobDraft, make_job

    options["kms_key_name"] = kms_key_name(options, session.project)
    request = make_job(display_name, read_config(Path(config), "ai hp-tuning-jobs create"), options)
    at_interrupt("Interrupted; no job was created.")
    created = submit(session, submitting, TuningJobDraft(session.project, region, request))
    click.echo(render(created.resource, submitting.layout, TUNING.columns))


command = Group(
    "hp-tuning-jobs",
    (
        Entry("create", create, "Create a tuning job."),
        entry(TUNING, "trials"),
        entry(TUNING, "describe"),
        entry(TUNING, "list"),
        entry(TUNING, "stream-logs", TRIAL_OPTION),
        entry(TUNING, "events"),
        entry(TUNING, "cancel"),
        entry(TUNING, "delete"),
    ),
    help="""Search for hyperparameters: each trial is a run of the whole job.

    The custom job 123-3 runs trial 3 of job 123. No list shows such a job, but the commands
    stacks, usage and ssh of `footplate ai custom-jobs` take its id.
    """,
)
