"""``footplate ai-platform jobs update``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.ai_platform.jobs.columns import COLUMNS
from footplate.cli.option_values import DictValue, ListValue
from footplate.cli.output_format import format_option, render
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session


@click.command("update")
@click.argument("job", shell_complete=offered("jobs"))
@click.option(
    "--update-labels",
    type=DictValue(),
    default={},
    metavar="KEY=VALUE,...",
    help="Labels to add, or to give another value.",
)
@click.option("--clear-labels", is_flag=True, help="Take all others away.")
@click.option(
    "--remove-labels", type=ListValue(), default=[], metavar="KEY,...", help="Take these away."
)
@format_option("yaml")
@with_session
def command(
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
    name = session.training_job(job)
    with session.connect() as service:
        changed = service.training_jobs.change_labels(
            name, put=update_labels, remove=remove_labels, clear=clear_labels
        )
    click.echo(f"Job {name.job_id} is updated.", err=True)
    click.echo(render(changed.resource, layout, COLUMNS))
