"""``footplate ai hp-tuning-jobs trials``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from footplate.cli.ai.hp_tuning_jobs.kind import KIND
from footplate.cli.ai.location_jobs.job_kind import EXAMPLE_ID
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import region_option, with_session
from footplate.cli.trials.command import run_trials, trials_help, trials_options

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("trials", help=trials_help("footplate ai hp-tuning-jobs trials", EXAMPLE_ID))
@click.argument("job", metavar=KIND.metavar, shell_complete=offered("jobs"))
@trials_options
@region_option()
@with_session
def command(session: Session, /, job: str, region: str, **options: Any) -> None:
    run_trials(session, KIND.name(session, job, region), **options)
