"""What is remembered of one HOME between two looks at it: nothing that its files don't tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.backends.local.home import Standing
from footplate.ports.backend import Presence, Sighting

if TYPE_CHECKING:
    from footplate.backends.local.exits import Watched
    from footplate.backends.local.home import Home

FIRST_DELAY_S = 0.02
LOST = "its supervisor was lost"

_PRESENCE = {
    Standing.UNSPAWNED: Presence.WAITING,
    Standing.STARTING: Presence.WAITING,
    Standing.LIVE: Presence.LIVE,
    Standing.LOST: Presence.LOST,
    Standing.GONE: Presence.GONE,
}
_REASON = {
    Standing.UNSPAWNED: "its supervisor is about to be started",
    Standing.STARTING: "its supervisor is starting",
    Standing.LIVE: "",
    Standing.LOST: LOST,
}


@dataclass
class Care:
    home: Home
    watched: Watched | None = None
    """The process whose death is waited for: its supervisor, or what sweeps up after it."""
    sweeping: bool = False
    spawned: bool = False
    """A supervisor was spawned by this process."""
    lived: bool = False
    """Its supervisor was seen alive by this process."""
    stop_wanted: bool = False
    signalled: bool = False
    trouble: str = ""
    """Why what should happen next can't happen yet."""
    due_s: float | None = None
    """When to look again, by the monotonic clock."""
    delay_s: float = FIRST_DELAY_S
    seen: Sighting | None = None

    def postpone(self, now_s: float, longest_s: float) -> None:
        """Look again, each time after twice as long."""
        self.due_s = now_s + self.delay_s
        self.delay_s = min(self.delay_s * 2, longest_s)

    def settle(self) -> None:
        """Nothing needs to be looked at again before something happens."""
        self.due_s = None
        self.delay_s = FIRST_DELAY_S
        self.trouble = ""

    def standing(self) -> Standing:
        """As the HOME says; but a supervisor that isn't dead isn't lost, nor gone, yet."""
        if self.sweeping:
            return Standing.LOST
        standing = self.home.standing()
        if self.watched is not None and standing not in (Standing.STARTING, Standing.LIVE):
            live = self.lived or self.home.was_locked
            standing = Standing.LIVE if live else Standing.STARTING
        self.lived = self.lived or standing is Standing.LIVE
        return standing

    def sighting(self) -> Sighting:
        standing = self.standing()
        reason = self.home.gone() or "" if standing is Standing.GONE else _REASON[standing]
        if self.trouble and standing is not Standing.GONE:
            reason = self.trouble
        home = self.home
        presence = _PRESENCE[standing]
        return Sighting(home.attempt_id, home.replica, presence, reason, home.restart)
