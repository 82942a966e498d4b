"""Drives each replica towards its requested state whenever something changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import assert_never

from footplate.backends.local import untrusted_files
from footplate.backends.local.launcher import Launcher
from footplate.backends.local.process_watcher import ProcessWatcher, Watched
from footplate.backends.local.replica_directory import Home, SupervisorStatus
from footplate.domain.names import AttemptId
from footplate.ports.backend import Presence, ReplicaObservation

FIRST_DELAY_S = 0.02
LOST = "the replica's supervisor was lost"

_PRESENCE = {
    SupervisorStatus.UNSPAWNED: Presence.WAITING,
    SupervisorStatus.STARTING: Presence.WAITING,
    SupervisorStatus.LIVE: Presence.LIVE,
    SupervisorStatus.LOST: Presence.LOST,
    SupervisorStatus.GONE: Presence.GONE,
}
_REASON = {
    SupervisorStatus.UNSPAWNED: "the replica's supervisor starts in a moment",
    SupervisorStatus.STARTING: "the replica's supervisor is starting",
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
        """Delays the next check, each time by twice as long."""
        self.due_s = now_s + self.delay_s
        self.delay_s = min(self.delay_s * 2, longest_s)

    def settle(self) -> None:
        """Cancels the next check: none is needed before something happens."""
        self.due_s = None
        self.delay_s = FIRST_DELAY_S
        self.trouble = ""

    def standing(self) -> SupervisorStatus:
        """Returns the status from HOME, corrected: a live supervisor is neither lost nor gone."""
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


LONGEST_START_S = 1.0
LONGEST_RETRY_S = 30.0
MOST_SWEEPS = 8
"""At once: after a reboot all that had been running is lost."""
RECHECK_S = 2.0
"""How often at least a supervisor is looked at whose pid isn't there or can't be trusted."""


class ReplicaController:
    """Brings replicas to their wanted state. Not thread-safe: the owner must serialise the calls.

    ``reconcile`` may be called at any time and repeatedly, since it acts on the state of the HOME.
    It schedules a retry of what isn't possible now.
    """

    def __init__(
        self, launcher: Launcher, watcher: ProcessWatcher, monotonic: Callable[[], float]
    ) -> None:
        self._launcher = launcher
        self._watcher = watcher
        self._monotonic = monotonic
        self._states: dict[Home, ReplicaState] = {}
        self._watched: dict[Watched, ReplicaState] = {}
        self._changed: dict[AttemptId, None] = {}

    def reconcile(self, home: Home, *, stop: bool = False) -> None:
        replica_state = self._states.setdefault(home, ReplicaState(home))
        if stop:
            replica_state.stop_wanted = True
            replica_state.signalled = False
        self._update(replica_state)

    def forget(self, home: Home) -> None:
        replica_state = self._states.pop(home, None)
        if replica_state is not None and replica_state.watched is not None:
            self._watched.pop(replica_state.watched, None)

    def observations(
        self, homes: Iterable[Home], of: AttemptId | None = None
    ) -> tuple[ReplicaObservation, ...]:
        """Returns observations of ``homes``, and of supervisors whose directory is gone.

        With ``of``, only supervisors of that attempt are included, and ``homes`` must belong to it.
        """
        states = {home: self._states.get(home) or ReplicaState(home) for home in homes}
        for replica_state in self._watched.values():
            if of in (None, replica_state.home.attempt_id):
                states[replica_state.home] = replica_state
        return tuple(replica_state.observation() for replica_state in states.values())

    def reconcile_dead(self, dead: Iterable[Watched]) -> None:
        """Reconciles the replicas of processes that have died."""
        for watched in dead:
            replica_state = self._watched.pop(watched, None)
            if replica_state is None:
                continue
            replica_state.watched = None
            if replica_state.sweeping:
                self._end_sweep(replica_state)
            else:
                replica_state.settle()
            self._update(replica_state)

    def _end_sweep(self, replica_state: ReplicaState) -> None:
        replica_state.sweeping = False
        if replica_state.standing() is SupervisorStatus.LOST:
            words = replica_state.home.last_words()
            replica_state.trouble = (
                f"{LOST}; the cleanup after it failed, and the server tries again: {words}"
            )
            replica_state.postpone(self._monotonic(), LONGEST_RETRY_S)

    def reconcile_due(self) -> None:
        now_s = self._monotonic()
        for replica_state in tuple(self._states.values()):
            if replica_state.due_s is not None and replica_state.due_s <= now_s:
                replica_state.due_s = None
                self._update(replica_state)

    def seconds_to_due(self) -> float | None:
        """Returns the seconds until the next check; None if nothing is due by itself."""
        due = [
            replica_state.due_s
            for replica_state in self._states.values()
            if replica_state.due_s is not None
        ]
        return max(0.0, min(due) - self._monotonic()) if due else None

    def take_changed(self) -> tuple[AttemptId, ...]:
        """Returns the attempts with an observation that has changed since the last call."""
        changed = tuple(self._changed)
        self._changed.clear()
        return changed

    def _update(self, replica_state: ReplicaState) -> None:
        try:
            self._act(replica_state)
        except OSError as error:
            replica_state.trouble = (
                f"waits: this machine can't start the supervisor: {error.strerror or error}"
            )
            replica_state.postpone(self._monotonic(), LONGEST_RETRY_S)
        observation = replica_state.observation()
        if replica_state.seen is not None and observation != replica_state.seen:
            self._changed[replica_state.home.attempt_id] = None
        replica_state.seen = observation

    def _act(self, replica_state: ReplicaState) -> None:
        if replica_state.watched is None and not untrusted_files.exists(replica_state.home.path):
            self.forget(replica_state.home)
            return
        standing = replica_state.standing()
        self._mark_stop(replica_state, standing)
        match standing:
            case SupervisorStatus.UNSPAWNED:
                self._start(replica_state)
            case SupervisorStatus.STARTING:
                replica_state.postpone(self._monotonic(), LONGEST_START_S)
            case SupervisorStatus.LIVE:
                self._check_live(replica_state)
            case SupervisorStatus.LOST:
                self._sweep(replica_state)
            case SupervisorStatus.GONE:
                replica_state.settle()
            case _:
                assert_never(standing)

    def _mark_stop(self, replica_state: ReplicaState, standing: SupervisorStatus) -> None:
        """Marks the supervisor to stop. The mark comes before the signal, but a full disk must not
        prevent the signal.
        """
        if not replica_state.stop_wanted or standing in (
            SupervisorStatus.LOST,
            SupervisorStatus.GONE,
        ):
            return
        try:
            replica_state.home.mark_stop()
        except OSError:
            if standing is SupervisorStatus.LIVE:
                self._check_live(replica_state)
            raise

    def _start(self, replica_state: ReplicaState) -> None:
        """Spawns a supervisor, which inherits the spawn lock: there is never a second one."""
        # A replica that is to stop needn't wait for another attempt: there is none.
        if replica_state.due_s is not None and not replica_state.home.to_stop:
            return
        spawn_lock = untrusted_files.take_lock(replica_state.home.spawn)
        try:
            # The status was read without the lock. Since then another server may have spawned a
            # supervisor, and that may even have ended and freed the lock. So HOME is read again,
            # under the lock.
            if spawn_lock is None or not replica_state.home.is_untouched():
                replica_state.postpone(self._monotonic(), LONGEST_START_S)
            elif replica_state.home.to_stop:
                replica_state.home.write_gone("the replica was stopped before it started")
                replica_state.settle()
            elif replica_state.spawned:
                # The supervisor that this process spawned is dead, as the lock is free, and never
                # took HOME. Another one would end the same way.
                replica_state.home.write_gone(_stillborn(replica_state.home))
                replica_state.settle()
            else:
                self._spawn(replica_state, spawn_lock)
        finally:
            if spawn_lock is not None:
                os.close(spawn_lock)

    def _spawn(self, replica_state: ReplicaState, spawn_lock: int) -> None:
        pid = self._launcher.run(replica_state.home, spawn_lock)
        replica_state.settle()
        replica_state.spawned = True
        self._watch(replica_state, pid)
        replica_state.postpone(self._monotonic(), LONGEST_START_S)

    def _check_live(self, replica_state: ReplicaState) -> None:
        """Watches the live supervisor; sends it one SIGTERM if it must stop."""
        replica_state.trouble = ""
        to_stop = replica_state.stop_wanted or replica_state.home.to_stop
        if to_stop and not replica_state.signalled:
            replica_state.signalled = self._launcher.terminate(replica_state.home)
        self._find_supervisor(replica_state)
        if replica_state.watched is not None and replica_state.signalled == to_stop:
            replica_state.settle()
        else:
            replica_state.postpone(self._monotonic(), RECHECK_S)

    def _sweep(self, replica_state: ReplicaState) -> None:
        if (
            replica_state.due_s is not None
            or replica_state.sweeping
            or self._find_supervisor(replica_state)
        ):
            return
        if sum(other.sweeping for other in self._states.values()) >= MOST_SWEEPS:
            replica_state.postpone(self._monotonic(), LONGEST_START_S)
            return
        self._watch(replica_state, self._launcher.sweep(replica_state.home))
        replica_state.trouble = ""
        replica_state.sweeping = replica_state.watched is not None
        if not replica_state.sweeping:
            replica_state.postpone(self._monotonic(), LONGEST_RETRY_S)

    def _find_supervisor(self, replica_state: ReplicaState) -> bool:
        """Watches the recorded pid if it is the supervisor's; returns whether one is watched."""
        pid = replica_state.home.pid() if replica_state.watched is None else None
        if pid is not None and self._launcher.is_supervisor(pid, replica_state.home):
            self._watch(replica_state, pid)
        return replica_state.watched is not None

    def _watch(self, replica_state: ReplicaState, pid: int) -> None:
        """Starts watching the supervisor's process."""
        replica_state.watched = self._watcher.watch(pid)
        if replica_state.watched is not None:
            self._watched[replica_state.watched] = replica_state


def _stillborn(home: Home) -> str:
    words = home.last_words()
    return "the replica's supervisor could not start" + (f": {words}" if words else "")
