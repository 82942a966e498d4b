"""Finds damaged pages of SQLite's files, which else would be noticed much later, or never."""

from __future__ import annotations

import sqlite3
import time

CHECK_S = 2.0
_STEPS = 10_000
"""Of SQLite's virtual machine between two looks at the clock."""


def find_damage(connection: sqlite3.Connection, limit_s: float = CHECK_S) -> str:
    """Returns what is wrong with the file; '' if nothing is.

    Stops after ``limit_s``, so of a large file it checks only the first pages.
    """
    end = time.monotonic() + limit_s
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        if "interrupted" in str(error):
            return ""
        if type(error) is not sqlite3.DatabaseError:
            raise
        return str(error)
    finally:
        connection.set_progress_handler(None, 0)
    return "" if found == "ok" else found
