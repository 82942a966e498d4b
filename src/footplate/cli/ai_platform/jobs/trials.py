"""``footplate ai-platform jobs trials``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session
from footplate.cli.trials.command import run_trials, trials_help, trials_options

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("trials", help=trials_help("footplate ai-platform jobs trials", "census_1"))
@click.argument("job", shell_complete=offered("jobs"))
@trials_options
@with_session
def command(session: Session, /, job: str, **options: Any) -> None:
    run_trials(session, session.training_job(job), **options)
