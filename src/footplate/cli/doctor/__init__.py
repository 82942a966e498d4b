"""``footplate doctor``: checks what this machine offers to jobs."""

from __future__ import annotations

import os
import sys

import click

from footplate.cli.doctor.assessment import Verdict, conclusion, jobs_can_run
from footplate.cli.linux_only import require_linux
from footplate.cli.terminal_text import spell_json
from footplate.settings import load_settings

_COLOURS = {Verdict.OK: "green", Verdict.LIMITED: "yellow", Verdict.FAILED: "red"}


@click.command("doctor")
@click.option(
    "--data-dir",
    type=click.Path(),
    metavar="DIR",
    help="Data directory that the service uses.  [env: FOOTPLATE_DATA_DIR]",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(data_dir: str | None, *, as_json: bool) -> None:
    """Show what this machine offers to jobs, and what to install where something is missing.

    OK: nothing is missing. LIMITED: some jobs can't run, or run with less protection. FAILED: no
    job can run; the exit code is 1 then. No server needs to run.
    """
    require_linux("`footplate doctor`")
    # Imported here: it takes longer than a help text may take.
    from footplate.cli.doctor.measurements import examine

    settings = load_settings(os.environ, {"data_dir": data_dir})
    findings = []
    for finding in examine(settings, os.environ):
        findings.append(finding)
        if not as_json:
            verdict = click.style(f"{finding.verdict:<7}", fg=_COLOURS[finding.verdict])
            click.echo(verdict + finding.line()[len(f"{finding.verdict:<7}") :])
    if as_json:
        parts = [finding.document() for finding in findings]
        document = {"jobsCanRun": jobs_can_run(findings), "findings": parts}
        click.echo(spell_json(document, indent=2))
    else:
        click.echo(f"\n{conclusion(findings)}")
    if not jobs_can_run(findings):
        sys.exit(1)
