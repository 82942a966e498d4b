"""``footplate ai custom-jobs machine-types``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.catalogue.machine_types import accelerator_option, list_machine_types
from footplate.cli.lists.listing import Listing, list_options
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("machine-types")
@accelerator_option
@list_options
@with_session
def command(session: Session, listing: Listing, accelerator: str | None) -> None:
    """List machine types of worker pools, and how many of which accelerators they take.

    A count with + is included: the type has them without being asked. The legacy names of
    AI Platform aren't shown; `footplate catalogue machine-types` has them.

    \b
    Examples:
      footplate ai custom-jobs machine-types
      footplate ai custom-jobs machine-types --accelerator=nvidia-l4
    """
    list_machine_types(session, listing, accelerator, ("COMPUTE_ENGINE", "TPU"))
