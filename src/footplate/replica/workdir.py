"""A supervisor's working directory and its files."""

from __future__ import annotations

import fcntl
import json
import os

from footplate.protocol.isolation_record import IsolationRecord
from footplate.protocol.task import Task
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.file_io import is_there, read_text, write_text
from footplate.replica.user_names import HOME_DIRECTORY

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

PROGRAM_FILE = "program.json"
"""The file in HOME with the variables and the directory that the program was started with."""
_TMP_MODE = 0o1777
_HELD_BYTES = 4096


class Locked(Exception):
    """Error of a home that another process supervises."""


class Home:
    """The directory of a replica. Its one live supervisor holds ``lock``, and loses it by its
    death.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._lock: int | None = None

    def __truediv__(self, name: str) -> str:
        return os.path.join(self.path, name)

    @property
    def spool(self) -> str:
        return self / "spool"

    @property
    def work(self) -> str:
        """The program's private working directory."""
        return self / "work"

    @property
    def tmp(self) -> str:
        """The program's private /tmp."""
        return self / "tmp"

    @property
    def own(self) -> str:
        """The home of a program's own user."""
        return os.path.join(self.tmp, HOME_DIRECTORY)

    @property
    def metrics(self) -> str:
        """The file that cloudml-hypertune writes in the program."""
        return os.path.join(self.path, "metrics", "output.metrics")

    @property
    def tools(self) -> str:
        """The folder with tools that the program may run; the program can read it."""
        return os.path.dirname(self.metrics)

    def take(self) -> None:
        """Makes this process the supervisor of the home. Raises Locked."""
        descriptor = os.open(self / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                raise Locked(self.path) from error
            raise
        self._lock = descriptor

    def make_directories(self) -> None:
        """Makes the directories that every program needs."""
        for path in (self.work, self.tmp, self.own, self.tools):
            try:
                os.mkdir(path)
            except FileExistsError:
                continue
        os.chmod(self.tmp, _TMP_MODE)

    def read(self, name: str) -> dict[str, Any] | None:
        """Returns the JSON object in a file; None if there is no such file.

        Raises:
            ValueError: there is something else in it.
        """
        try:
            value = json.loads(read_text(self / name))
        except FileNotFoundError:
            return None
        if not isinstance(value, dict):
            raise ValueError(f"{name} is not a JSON object")  # noqa: TRY004  as broken JSON does
        return value

    def read_ticket(self) -> SupervisorTicket:
        """Returns the supervisor's ticket. Raises ValueError, OSError."""
        return SupervisorTicket.decode(self.read("ticket.json") or {})

    def read_isolation(self) -> IsolationRecord:
        """Returns the record of the program's isolation. Raises ValueError, OSError."""
        return IsolationRecord.decode(self.read("isolation.json") or {})

    def read_task(self) -> Task:
        """Returns the task. Raises ValueError, OSError."""
        return Task.decode(self.read("task.json"))

    def write(self, name: str, value: dict[str, Any]) -> None:
        """Replaces a file as a whole; only its owner may read it."""
        text = json.dumps(value)  # json.dump would do it in Python, ten times slower
        part = self._write_part(name, text)
        # Cut to its length only after it is written. To empty the file first would give back the
        # space that ``hold_space`` keeps in it, and a full disk could then refuse the text.
        os.truncate(part, len(text))
        os.replace(part, self / name)

    def hold_space(self, name: str) -> None:
        """Keeps space for the next ``write`` of a file, which a full disk then can't refuse."""
        self._write_part(name, " " * _HELD_BYTES)

    def _write_part(self, name: str, text: str) -> str:
        part = self / f"{name}.part"
        try:
            write_text(part, text, os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError:
            if os.path.exists(part):
                os.unlink(part)  # half of it would keep the disk full
            raise
        return part

    def finish(self, reason: str) -> None:
        """Writes down that nothing of the replica is left here, and the reason."""
        self.write("gone", {"reason": reason})

    @property
    def finished(self) -> bool:
        return is_there(self / "gone")
