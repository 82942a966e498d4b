"""``footplate status``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.output_format import format_option, render
from footplate.cli.session import with_session
from footplate.cli.terminal_text import disarm
from footplate.domain.errors import FailedPrecondition, Unavailable
from footplate.wire.json_text import objects

if TYPE_CHECKING:
    from footplate.cli.output_format import Layout
    from footplate.cli.session import Session
    from footplate.wire.footplate_v1.status import Status
    from footplate.wire.json_text import JsonObject


@click.command("status")
@format_option("table")
@with_session
def command(session: Session, layout: Layout) -> None:
    """Show where the service answers, and how many jobs it has in which state.

    A tuning job counts as one, and so does each trial that runs or waits.

    Where no server runs, show the jobs that run without it.
    """
    document = _ask(session)
    if layout.kind == "table":
        _show(document)
    else:
        click.echo(render(document, layout, {}))


def _ask(session: Session) -> JsonObject:
    try:
        with session.connect() as service:
            return _running(service.status())
    except Unavailable:
        if session.url:
            raise
    # Imported here: a server takes longer to import than a help text may take.
    from footplate.server import left_behind

    settings = session.settings()
    try:
        left = left_behind(settings)
    except FailedPrecondition as error:
        raise Unavailable(
            f"the server of {settings.data_dir} doesn't answer: it is starting, ending "
            "or very busy; try again in a moment"
        ) from error
    jobs: JsonObject = {state.value: count for state, count in left.items()}
    return {"url": None, "dataDir": str(settings.data_dir), "activeJobs": jobs}


def _running(status: Status) -> JsonObject:
    shown = status.encode()
    shown["servers"] = [{"url": s.url, "pid": s.pid, "leads": s.leads} for s in status.servers]
    omitted = {"servers"} if len(status.servers) <= 1 else set()
    omitted |= {key for key in ("trouble", "regions") if not shown[key]}
    return {key: value for key, value in shown.items() if key not in omitted}


def _show(document: JsonObject) -> None:
    if document["url"] is None:
        click.echo("No server is running; `footplate up` starts one.")
    else:
        click.echo(f"Footplate {document['version']} answers at {document['url']}")
        click.echo(f"  process  {document['pid']}")
    click.echo(f"  data     {document['dataDir']}")
    click.echo(f"  jobs     {_counts(document['activeJobs']) or 'none active'}")
    if trials := _counts(document.get("activeTrials")):
        click.echo(f"  trials   {trials}")
    if trouble := document.get("trouble"):
        click.secho(f"  trouble  {disarm(str(trouble), plain=True)}", fg="yellow")
    for server in objects(document.get("servers")):
        role = "leads" if server["leads"] else "follows"
        click.echo(f"  server   {server['url']} (process {server['pid']}) {role}")
    for region in objects(document.get("regions")):
        _show_region(region)


def _show_region(region: JsonObject) -> None:
    """Prints an engine's nodes and queue in one line, then its problems."""
    facts, problems = region.get("facts"), region.get("problems")
    told = disarm("; ".join(map(str, facts)), plain=True) if isinstance(facts, list) else ""
    click.echo(f"  region   {region['name']} ({region['where']}){': ' if told else ''}{told}")
    for problem in problems if isinstance(problems, list) else []:
        click.secho(f"           {disarm(str(problem), plain=True)}", fg="yellow")


def _counts(jobs: object) -> str:
    counted = jobs.items() if isinstance(jobs, dict) else ()
    return ", ".join(f"{count} {state}" for state, count in counted if count)
