"""What a replica has to tell, on a disk that takes nothing."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

from footplate.replica.journal import RETRY_S, Journal
from footplate.replica.spool import Spool

LIMIT_BYTES = 1 << 20


class Disk:
    """Takes nothing while ``full``; ``steps`` are what somebody has set aside."""

    def __init__(self, steps: int) -> None:
        self.full = False
        self.steps = steps

    def write(self, descriptor: int, data: bytes, offset: int) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.pwrite(descriptor, data, offset)

    def give_step(self) -> bool:
        self.steps -= 1
        self.full = self.steps < 0
        return not self.full


def told(spool: Spool) -> list[str]:
    body = spool.read().body
    return [record["k"] for record in json.loads(b"[" + body + b"]")]


def make(folder: Path, steps: int) -> tuple[Disk, Spool, Journal]:
    disk = Disk(steps)
    spool = Spool(str(folder), LIMIT_BYTES, disk.write)
    journal = Journal(spool, LIMIT_BYTES, lambda: 7.0)
    journal.lines("stdout", ["first"])
    return disk, spool, journal


def test_while_its_program_runs_nothing_is_taken_of_what_is_set_aside(tmp_path: Path) -> None:
    disk, spool, journal = make(tmp_path, steps=1)
    disk.full = True
    journal.lines("stdout", ["second"])
    assert journal.held
    assert told(spool) == ["line"]
    assert disk.steps == 1


def test_what_is_held_when_the_program_dies_is_kept_at_once(tmp_path: Path) -> None:
    disk, spool, journal = make(tmp_path, steps=1)
    disk.full = True
    journal.lines("stdout", ["second"])
    journal.retry(100.0)
    journal.end(disk.give_step)
    journal.retry(100.0)
    journal.exit("STOPPED", 0, "")
    assert not journal.held
    assert told(spool) == ["line", "line", "exit"]


def test_an_end_for_which_nothing_is_left_waits_for_room(tmp_path: Path) -> None:
    disk, spool, journal = make(tmp_path, steps=0)
    disk.full = True
    journal.end(disk.give_step)
    journal.exit("STOPPED", 0, "")
    assert journal.held
    disk.full = False
    journal.retry(RETRY_S)
    assert told(spool) == ["line", "exit"]
