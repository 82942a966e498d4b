"""``footplate ai hp-tuning-jobs create``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.ai.hp_tuning_jobs.kind import KIND
from footplate.cli.ai.location_jobs.create_options import create_options, display_name_option
from footplate.cli.keyboard_interrupt import at_interrupt
from footplate.cli.kms_key import kms_key_name
from footplate.cli.learn_from import learn_from_option
from footplate.cli.output_format import render
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.job_submission import SubmissionOptions
    from footplate.cli.session import Session


@click.command("create")
@display_name_option
@click.option(
    "--config",
    type=click.Path(),
    required=True,
    metavar="FILE",
    help="YAML file with studySpec, trialJobSpec and, if you like, counts; options win over it.",
)
@click.option(
    "--max-trial-count",
    type=click.IntRange(min=1),
    metavar="N",
    help="Trials in all; without it the file's, or 1.",
)
@click.option(
    "--parallel-trial-count",
    type=click.IntRange(min=1),
    metavar="N",
    help="Trials at a time; without it the file's, or 1.",
)
@click.option(
    "--algorithm",
    type=click.Choice(["algorithm-unspecified", "grid-search", "random-search"]),
    help="How points are chosen; algorithm-unspecified is the Bayesian search.",
)
@learn_from_option
@create_options
@with_session
def command(
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
    from footplate.cli.ai.hp_tuning_jobs.draft import TuningJobDraft
    from footplate.cli.ai.hp_tuning_jobs.request import make_job
    from footplate.cli.config_file import read_config

    options["kms_key_name"] = kms_key_name(options, session.project)
    request = make_job(display_name, read_config(Path(config), "ai hp-tuning-jobs create"), options)
    at_interrupt("Interrupted; no job was created.")
    created = submitting.submit(session, TuningJobDraft(session.project, region, request))
    click.echo(render(created.resource, submitting.layout, KIND.columns))
