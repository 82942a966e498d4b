"""Attempts that have ended for good: no earlier leader starts them again.

A leader that stood still may go on in the middle of a decision, when another one has led for long:
it would start an attempt whose files are gone, as if that had never run. The database can't keep
it from that, as no transaction covers what a backend does. So the files of the backend do.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from footplate.backends.gang_names import NAME
from footplate.domain.errors import NotLeading, Unavailable
from footplate.domain.names import AttemptId

KEEP_S = 86_400.0
"""How long it is known that an attempt has ended: no leader stands still for longer and goes on."""
_CLEAR_EVERY = 1000
_TERMS, _ENDED = ".terms", ".ended"


class EndedAttempts:
    """The ended attempts below a backend's ``root``, each with the term in which it ended.

    A backend's term is a number that it gets when it is opened, higher than all before. A later
    term may start an attempt again that ended in an earlier one: the database may have been
    restored since.
    """

    def __init__(self, root: Path) -> None:
        self._terms, self._ended = root / _TERMS, root / _ENDED
        self._term = 0
        self._noted = 0

    def open(self) -> None:
        """Begins a term. Raises OSError."""
        self._ended.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._terms.mkdir(exist_ok=True, mode=0o700)
        known = sorted(int(p.name) for p in self._terms.iterdir() if p.name.isdecimal())
        term = known[-1] + 1 if known else 1
        # Of two servers that open at once only one gets the number, and the other the next one.
        while not _create(self._terms / str(term)):
            term += 1
        self._term = term
        for number in known:  # never the highest one, from which the next server counts
            (self._terms / str(number)).unlink(missing_ok=True)
        self._clear()

    def note(self, attempt_id: AttemptId) -> None:
        """Records that the attempt has ended, before its files go. Raises OSError."""
        if not NAME.fullmatch(attempt_id):
            return
        path = self._ended / attempt_id
        with suppress(FileNotFoundError):
            path.unlink()
        # A link that leads nowhere: it needs no block on disk, and has its content at once.
        with suppress(FileExistsError, FileNotFoundError):  # another server notes it, or no root
            path.symlink_to(str(self._term))
        self._noted += 1
        if self._noted % _CLEAR_EVERY == 0:
            self._clear()

    def take_back(self, attempt_id: AttemptId) -> None:
        """Forgets the end of an attempt that is to start. Raises NotLeading, Unavailable."""
        self.check(attempt_id)
        if self._read(attempt_id):
            with suppress(OSError):  # it expires
                (self._ended / attempt_id).unlink(missing_ok=True)

    def check(self, attempt_id: AttemptId) -> None:
        """Raises NotLeading if the attempt has ended in a later term, and Unavailable if that can't
        be read.
        """
        if self._read(attempt_id) > self._term:
            raise NotLeading(f"another server leads now, and attempt {attempt_id} has ended")

    def _read(self, attempt_id: AttemptId) -> int:
        """Returns the term in which the attempt ended; 0 if none is known."""
        if not NAME.fullmatch(attempt_id):
            return 0
        try:
            return int(str((self._ended / attempt_id).readlink()))
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            raise Unavailable(
                f"the server can't read whether attempt {attempt_id} has ended: {error}"
            ) from error

    def _clear(self) -> None:
        oldest_s = time.time() - KEEP_S
        with suppress(FileNotFoundError), os.scandir(self._ended) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mtime < oldest_s:
                        (self._ended / entry.name).unlink()


def _create(path: Path) -> bool:
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return False
    return True
