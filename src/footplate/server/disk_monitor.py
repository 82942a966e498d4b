"""Monitors the data directory's disk, and keeps space in reserve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.control_loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.server.disk_reserve import DiskReserve
    from footplate.wire.json_text import JsonObject


class Disk:
    """``keep_room`` has the database keep room in its own files, as far as the disk has any."""

    def __init__(self, reserve: DiskReserve, keep_room: Callable[[], None]) -> None:
        self._reserve = reserve
        self._keep_room = keep_room
        self._loop = Loop(self.maintain, "disk")

    def start(self) -> None:
        """Looks at it now and then."""
        self._loop.start()

    def close(self) -> None:
        self._loop.close()

    def maintain(self) -> float:
        """Takes the room that is missing, where there is some.

        Returns:
            In how many seconds it is to be looked at again.
        """
        self._keep_room()
        return self._reserve.maintain()

    def trouble(self) -> str:
        """Returns what an operator has to know; '' if nothing."""
        return self._reserve.state().trouble()

    def probe(self) -> JsonObject:
        """Answers the health check. A full disk is no reason to start the service anew."""
        trouble = self.trouble()
        return {"trouble": trouble} if trouble else {}
