"""The disk of the data directory: room is kept on it, and it is told when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.server.reserve import Reserve
    from footplate.wire.json_text import JsonObject


class Disk:
    """``keep_room`` has the database keep room in its own files, as far as the disk has any."""

    def __init__(self, reserve: Reserve, keep_room: Callable[[], None]) -> None:
        self._reserve = reserve
        self._keep_room = keep_room
        self._loop = Loop(self.tend, "disk")

    def start(self) -> None:
        """Look at it now and then."""
        self._loop.start()

    def close(self) -> None:
        self._loop.close()

    def tend(self) -> float:
        """Take the room that is missing, where there is some.

        Returns:
            In how many seconds it is to be looked at again.
        """
        self._keep_room()
        return self._reserve.tend()

    def trouble(self) -> str:
        """What an operator has to know; empty: nothing."""
        return self._reserve.state().trouble()

    def probe(self) -> JsonObject:
        """For the health check. A full disk is no reason to start the service anew: it goes on."""
        trouble = self.trouble()
        return {"trouble": trouble} if trouble else {}
