"""In-memory state of one replica between two checks. It can be rebuilt from the replica's files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.backends.local.replica_directory import SupervisorStatus
from footplate.ports.backend import Presence, ReplicaObservation

if TYPE_CHECKING:
    from footplate.backends.local.process_watcher import Watched
    from footplate.backends.local.replica_directory import Home

FIRST_DELAY_S = 0.02
LOST = "its supervisor was lost"

_PRESENCE = {
    SupervisorStatus.UNSPAWNED: Presence.WAITING,
    SupervisorStatus.STARTING: Presence.WAITING,
    SupervisorStatus.LIVE: Presence.LIVE,
    SupervisorStatus.LOST: Presence.LOST,
    SupervisorStatus.GONE: Presence.GONE,
}
_REASON = {
    SupervisorStatus.UNSPAWNED: "its supervisor is about to be started",
    SupervisorStatus.STARTING: "its supervisor is starting",
    SupervisorStatus.LIVE: "",
    SupervisorStatus.LOST: LOST,
}


@dataclass
class ReplicaState:
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
    seen: ReplicaObservation | None = None

    def postpone(self, now_s: float, longest_s: float) -> None:
        """Look again, each time after twice as long."""
        self.due_s = now_s + self.delay_s
        self.delay_s = min(self.delay_s * 2, longest_s)

    def settle(self) -> None:
        """Nothing needs to be looked at again before something happens."""
        self.due_s = None
        self.delay_s = FIRST_DELAY_S
        self.trouble = ""

    def standing(self) -> SupervisorStatus:
        """The status from the HOME, corrected: a supervisor that still lives is neither lost nor
        gone.
        """
        if self.sweeping:
            return SupervisorStatus.LOST
        standing = self.home.standing()
        if self.watched is not None and standing not in (
            SupervisorStatus.STARTING,
            SupervisorStatus.LIVE,
        ):
            live = self.lived or self.home.was_locked
            standing = SupervisorStatus.LIVE if live else SupervisorStatus.STARTING
        self.lived = self.lived or standing is SupervisorStatus.LIVE
        return standing

    def observation(self) -> ReplicaObservation:
        standing = self.standing()
        reason = self.home.gone() or "" if standing is SupervisorStatus.GONE else _REASON[standing]
        if self.trouble and standing is not SupervisorStatus.GONE:
            reason = self.trouble
        home = self.home
        presence = _PRESENCE[standing]
        return ReplicaObservation(home.attempt_id, home.replica, presence, reason, home.restart)
