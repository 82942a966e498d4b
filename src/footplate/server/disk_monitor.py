"""Monitors the data directory's disk, and keeps space in reserve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.control_loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.server.disk_reserve import DiskReserve
    from footplate.wire.json_text import JsonObject


class Disk:
    """Monitors the disk. ``keep_room`` makes the database reserve space in its own files."""

    def __init__(self, reserve: DiskReserve, keep_room: Callable[[], None]) -> None:
        self._reserve = reserve
        self._keep_room = keep_room
        self._loop = Loop(self.maintain, "disk")

    def start(self) -> None:
        """Starts checking the disk at intervals."""
        self._loop.start()

    def close(self) -> None:
        self._loop.close()

    def maintain(self) -> float:
        """Refills the reserves if there is space; returns the seconds until the next check."""
        self._keep_room()
        return self._reserve.maintain()

    def trouble(self) -> str:
        """Returns what an operator must know about the disk; '' if nothing."""
        return self._reserve.state().trouble()

    def probe(self) -> JsonObject:
        """Returns the disk's part of the health check. A full disk doesn't fail it: a restart
        wouldn't help.
        """
        trouble = self.trouble()
        return {"trouble": trouble} if trouble else {}
