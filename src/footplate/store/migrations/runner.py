"""Runs pending migrations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from footplate.domain.errors import FailedPrecondition
from footplate.store.tables import REVISION, REVISION_TABLE

if TYPE_CHECKING:
    from sqlalchemy import Connection


def configuration(connection: Connection | None = None) -> Config:
    """Returns Alembic's settings; there is no alembic.ini, because a wheel couldn't place one."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config


def migrate(connection: Connection, revision: str = REVISION) -> None:
    """Migrates the database to ``revision`` in the transaction of ``connection``.

    Raises:
        FailedPrecondition: the database is at a revision that this version doesn't know.
    """
    config = configuration(connection)
    try:
        command.upgrade(config, revision)
    except CommandError as error:
        newest = ScriptDirectory.from_config(config).get_current_head()
        message = (
            f"the database was made by a newer version of Footplate (see its table"
            f" {REVISION_TABLE}; this version knows revisions up to {newest}): upgrade Footplate"
        )
        raise FailedPrecondition(message) from error
