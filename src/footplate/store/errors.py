"""Maps database errors to the service's errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import exc

from footplate.domain.errors import DataLoss, Unavailable

if TYPE_CHECKING:
    from sqlalchemy import URL

_ADVICE = {
    "database is locked": (
        "another program has been writing to the database for too long; end that program"
    ),
    "disk is full": "free some space on the disk and try again",
    "no space left": "free some space on the disk and try again",
    "disk i/o error": "check whether the disk is full or failing",
    "unable to open database file": (
        "check that the file's folder exists and that the server may write to it"
    ),
    "readonly database": "check that the server may write to the file and its folder",
    "connection": "check that PostgreSQL runs there and lets this user in",
}


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """Context manager that translates database errors of SQLAlchemy into the service's.

    Raises:
        Unavailable: the database can't be reached, is locked or full; this may pass.
        DataLoss: the file is damaged.
    """
    try:
        yield
    except (exc.OperationalError, exc.InterfaceError) as error:
        raise unavailable(url, str(error.orig)) from error
    except exc.TimeoutError as error:
        raise unavailable(url, "all connections to the database stay busy") from error
    except exc.DatabaseError as error:
        if error.connection_invalidated:
            raise unavailable(url, str(error.orig)) from error
        if type(error) is exc.DatabaseError:
            raise damaged(url, str(error.orig)) from error
        raise


def unavailable(url: URL, cause: str) -> Unavailable:
    """Makes the error with the database's message and, if known, advice."""
    cause = " ".join(cause.split())
    advice = next((f": {tip}" for sign, tip in _ADVICE.items() if sign in cause.lower()), "")
    return Unavailable(f"the database {place(url)} can't be used now ({cause}){advice}")


def damaged(url: URL, cause: str) -> DataLoss:
    """Makes the error with SQLite's message and advice."""
    return DataLoss(
        f"the database {place(url)} is damaged ({cause}); restore a backup into another data "
        "directory with `footplate restore`, or put back a copy of the file"
    )


def place(url: URL) -> str:
    """Returns the database's name for messages, without its password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return url.render_as_string(hide_password=True)
