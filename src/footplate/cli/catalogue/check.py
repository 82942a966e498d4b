"""``footplate catalogue check``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.catalogue.differences import changes
from footplate.cli.group import Failure
from footplate.cli.output_format import format_option, render_list
from footplate.cli.terminal_text import disarm
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.formats.format_spec import Layout
    from footplate.domain.catalogue import Catalogue

_COLUMNS = {"CHANGE": "change", "KIND": "kind", "NAME": "name", "DETAILS": "details"}


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@format_option("table")
def command(file: Path, layout: Layout) -> None:
    """Check a catalogue file of your own, such as the setting `catalogue` names.

    Says everything that is wrong with it, one FILE:LINE: FIELD: a line, and ends with 1; or what
    it adds to the built-in catalogue, changes and removes.

    \b
    Example:
      footplate catalogue check own.toml
    """
    # Imported here: a help text has no use for the catalogue.
    from footplate.catalogue import load_catalogue
    from footplate.wire.catalogue import encode_catalogue

    before, after = load_catalogue(), _load(file)
    found = changes(encode_catalogue(before), encode_catalogue(after))
    counts = Counter(str(change["change"]) for change in found)
    says = ", ".join(f"{verb} {counts[verb]}" for verb in ("adds", "changes", "removes"))
    click.echo(f"{file} is valid; it {says} entries.", err=True)
    if found:
        shown = [_row(change) for change in found] if layout.takes_rows else found
        click.echo(render_list(shown, layout, _COLUMNS, fold=True))


def _load(file: Path) -> Catalogue:
    from footplate.catalogue import load_catalogue

    try:
        return load_catalogue(file)
    except InvalidArgument as error:
        for violation in error.violations:
            click.echo(disarm(f"{violation.field}: {violation.description}"))
        number = len(error.violations)
        things = "1 thing is" if number == 1 else f"{number} things are"
        raise Failure(f"{things} wrong with {file}") from None


def _row(change: Resource) -> Resource:
    details = change.get("details")
    text = "; ".join(str(detail) for detail in details) if isinstance(details, list) else ""
    return {**change, "details": text}
