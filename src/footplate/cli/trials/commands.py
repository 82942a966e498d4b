"""The ``trials`` command of both APIs."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from footplate.cli.follow import conclude
from footplate.cli.jobs.kinds import job_commands
from footplate.cli.keyboard_interrupt import INTERRUPTED
from footplate.cli.option_values import split_list
from footplate.cli.output_format import csv_text, render_list, yaml_text
from footplate.cli.table import table
from footplate.cli.terminal_text import disarm, spell_json
from footplate.cli.trials import export
from footplate.cli.trials.detail import describe_trial
from footplate.cli.trials.fields import find_trial, utc_now
from footplate.cli.trials.summary import earlier_line
from footplate.cli.trials.table import best_line, narrow_table, plain_table
from footplate.cli.trials.watch import watch as watch_table
from footplate.domain.errors import NotFound
from footplate.domain.names import trial_run_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from footplate.cli.output_format import Layout
    from footplate.cli.session import Session
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.domain.names import JobName
    from footplate.wire.footplate_v1.trials import Measurement, Trial, TrialList


@dataclass(frozen=True)
class Selection:
    """A selection of trials: a condition, their order, and how many at most (None: all)."""

    condition: str = ""
    sort_by: str = ""
    limit: int | None = None

    def read(self, service: Service, name: JobName) -> tuple[TrialList, Sequence[Trial]]:
        """Returns all trials of a job, and the selected ones. Raises InvalidArgument."""
        view = service.trials(name)
        if not self.condition and not self.sort_by:
            return view, view.trials[: self.limit]
        chosen = service.trials(name, self.condition, _order_by(self.sort_by))
        return view, chosen.trials[: self.limit]


def _order_by(sort_by: str) -> str:
    """Returns the service's spelling of gcloud's order: ``a desc,b`` for ``~a,b``."""
    fields = (field.strip() for field in split_list(sort_by))
    return ",".join(f"{f.removeprefix('~')} desc" if f.startswith("~") else f for f in fields)


def show_trials(
    session: Session,
    name: JobName,
    *,
    layout: Layout,
    watch: bool,
    curves: bool,
    trial: int | None,
    limit: int | None,
    sort_by: str,
    condition: str,
) -> None:
    """Prints a table of trials, one trial, or curves; or watches the table until the job ends."""
    if watch and (curves or trial is not None or not layout.kind == "table"):
        raise click.UsageError("--watch can't be combined with --curves, --trial or --format")
    if trial is not None and curves:
        condition, trial = f"number={trial}", None
    chosen = Selection(condition, sort_by, limit)
    if watch:
        _watch_trials(session, name, chosen)
    elif trial is not None:
        _show_trial(session, name, trial, layout)
    elif curves:
        _show_curves(session, name, layout, chosen)
    else:
        _show_results(session, name, layout, chosen)


def _show_results(session: Session, name: JobName, layout: Layout, chosen: Selection) -> None:
    with session.connect() as service:
        view, shown = chosen.read(service, name)
    if layout.fields:
        _echo(render_list([export.flat(view, trial) for trial in shown], layout, {}))
    elif not layout.takes_rows or layout.kind == "csv":
        _echo(_EXPORTS[layout.kind](view, shown))
    elif not view.trials:
        click.echo(f"Job {name.job_id} is {view.state}, and has no trials yet.", err=True)
    elif not shown:
        click.echo(f"None of {len(view.trials)} trials matches --filter.", err=True)
    else:
        _print_table(view, shown)


def _show_curves(session: Session, name: JobName, layout: Layout, chosen: Selection) -> None:
    """Prints the trials' reports, in JSON one object per line."""
    with session.connect() as service:
        view, shown = chosen.read(service, name)
        rows = [
            row
            for trial in shown
            for row in export.curve_rows(
                view, trial.number, service.measurements(name, trial.number)
            )
        ]
    if layout.kind == "json":
        for row in rows:
            click.echo(spell_json(row))
        return
    headings = ["trial", "step", *view.goals, "elapsed_seconds", "time", "source"]
    if layout.fields:
        _echo(render_list(rows, layout, {}))
        return
    if layout.kind == "yaml":
        click.echo(yaml_text([*rows], sort_keys=False))
        return
    cells = [["" if row[h] is None else str(row[h]) for h in headings] for row in rows]
    if layout.kind == "csv":
        _echo(csv_text(headings, cells))
    else:
        _echo(table([heading.upper() for heading in headings], cells))


def _show_trial(session: Session, name: JobName, number: int, layout: Layout) -> None:
    """Prints one trial in full. Raises NotFound."""
    with session.connect() as service:
        view = service.trials(name)
        trial = find_trial(view, number, session.flags)
        curve = service.measurements(name, number)
        run = _run_of(service, name, trial)
    error = run.error_message if run else ""
    if layout.fields:
        _echo(render_list([export.flat(view, trial)], layout, {}))
    elif layout.kind == "csv":
        _echo(export.as_csv(view, [trial]))
    elif layout.kind != "table":
        rows = export.curve_rows(view, number, curve)
        document: dict[str, JsonValue] = {
            **view.shown(trial),
            "reports": list(rows),
            **({"runError": error} if error else {}),
        }
        text = spell_json(document, indent=2)
        click.echo(text if layout.kind == "json" else yaml_text(document, sort_keys=False))
    else:
        _print_detail(session, view, trial, curve, run)


def _watch_trials(session: Session, name: JobName, chosen: Selection) -> None:
    """Watches until the job ends, then exits: 0 if it succeeded, 1 otherwise, 130 at Ctrl-C."""
    try:
        job = watch_table(session, name, chosen.read)
    except KeyboardInterrupt:
        commands = job_commands(name, session.flags)
        click.echo(f"\nNo longer watching job {name.job_id}; the job continues.", err=True)
        click.echo(f"  watch it again: {commands['trials']} --watch", err=True)
        click.echo(f"  end it:         {commands['cancel']}", err=True)
        sys.exit(INTERRUPTED)
    conclude(job)


_EXPORTS = {"json": export.as_json, "csv": export.as_csv, "yaml": export.as_yaml}


def _print_table(view: TrialList, shown: Sequence[Trial]) -> None:
    if not sys.stdout.isatty():
        click.echo(plain_table(view, shown, utc_now()))
        for note in (best_line(view), earlier_line(view)):
            if note:
                click.echo(note, err=True)
        return
    width = shutil.get_terminal_size().columns
    for line, style in narrow_table(view, shown, utc_now(), width):
        click.secho(
            line, fg=style.replace("bold", "").strip() or None, bold="bold" in style or None
        )
    if best := best_line(view):
        click.secho(disarm(best, plain=True), fg="green", err=True)
    if earlier := earlier_line(view):
        click.echo(disarm(earlier, plain=True), err=True)


def _run_of(service: Service, name: JobName, trial: Trial) -> Job | None:
    """Returns the job that runs a trial; None if it doesn't exist (yet, or any more)."""
    try:
        return service.job(trial_run_name(name, trial.number))
    except NotFound:
        return None


def _print_detail(
    session: Session,
    view: TrialList,
    trial: Trial,
    curve: Sequence[Measurement],
    run: Job | None,
) -> None:
    name = trial_run_name(view.job, trial.number)
    logs = job_commands(name, session.flags)["stream-logs"] if trial.start_time else ""
    lines = describe_trial(view, trial, curve, run, logs, utc_now())
    width = max(len(label) for label, _ in lines) + 3
    for label, text in lines:
        first, *rest = text.split("\n")
        _echo(f"{label + ':':<{width}}{first}")
        for line in rest:
            _echo(" " * width + line)


def _echo(text: str) -> None:
    click.echo(disarm(text, plain=True))
