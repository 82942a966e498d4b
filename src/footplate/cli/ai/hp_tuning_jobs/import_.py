"""``footplate ai hp-tuning-jobs import``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.option_values import ListValue
from footplate.cli.output_format import format_option, render
from footplate.cli.session_options import region_option, with_session
from footplate.cli.terminal_text import disarm
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session

_COLUMNS = {"NAME": "name", "DISPLAY_NAME": "displayName", "STATE": "state"}


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--display-name", required=True, metavar="NAME", help="Name of the study; once in a region."
)
@click.option(
    "--study-name", default="", metavar="NAME", help="Which one, where an Optuna file has several."
)
@click.option(
    "--metric",
    "metrics",
    type=ListValue(),
    default=[],
    metavar="NAME,...",
    help="Names of the objectives, as your tuning job calls its metrics.",
)
@click.option(
    "--goal",
    type=click.Choice(["maximize", "minimize"]),
    help="Optimization goal, for a file that doesn't name it: a CSV, or trials alone.",
)
@format_option("yaml")
@region_option()
@with_session
def command(
    session: Session,
    file: Path,
    region: str,
    layout: Layout,
    display_name: str,
    study_name: str,
    metrics: list[str],
    goal: str | None,
) -> None:
    """Bring a finished study from elsewhere, so that a tuning job can learn from it.

    FILE is an Optuna database (SQLite) or journal, a HyperparameterTuningJob of Vertex AI or
    its trials alone as JSON or YAML, or what `trials --format=json` or csv has written. Optuna
    need not be installed. What can't be taken over is said.

    It becomes a study of Vizier. A tuning job learns from it where its metric and parameters have
    the same names; bounds may differ.

    \b
    Examples:
      footplate ai hp-tuning-jobs import optuna.db --display-name=old-search --metric=rmse
      footplate ai hp-tuning-jobs create --config=hptuning.yaml --display-name=new-search \\
          --learn-from=STUDY_ID
    """
    # Imported here: help texts need none of it.
    from footplate.cli.study_import.file_formats import read_study
    from footplate.cli.study_import.upload import send_study

    study = read_study(file, study_name, metrics, (goal or "").upper())
    if not study.trials:
        raise InvalidArgument(f"{file} has no trial that has ended")
    for note in study.notes:
        click.secho(f"Note: {disarm(note)}.", err=True, fg="yellow")
    with session.connect() as service:
        name, resource = send_study(service, session.project, region, display_name, study)
    without = sum(trial.final is None for trial in study.trials)
    told = f", {without} of them without a result" if without else ""
    click.echo(f"Study {name.study_id} has {len(study.trials)} trials{told}.", err=True)
    click.echo(
        f"  learn from it: footplate ai hp-tuning-jobs create --learn-from={name.study_id} ...",
        err=True,
    )
    click.echo(render(resource, layout, _COLUMNS))
