"""Decides when nothing of a replica can run any more on a node whose launcher is silent."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass

from footplate.backends.engine.attempt import Content, Replica
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.engine import Engine, EngineUnavailable, NodeState
from footplate.backends.engine.fence_command import FenceCommand
from footplate.domain.names import AttemptId

MAX_CLOCK_GAP_S = 15.0
"""What counts of the time between two looks at the clock: a server that stood still for longer
could not be called meanwhile.
"""
SILENCE_STEP_S = 30.0
"""A silence is stored when it has grown by so much. Launchers call every 20 s, so nothing is
written for one that calls.
"""
_SILENCE_KIND = "silence"
_Key = tuple[AttemptId, str, int]


@dataclass
class _Silence:
    contact: float
    """The time of the file that the launcher's call touched last."""
    since_s: float
    stored_s: float = 0.0


class Silences:
    """Counts the time since each launcher's last call, without the time in which no server was
    there to be called.

    A server that starts continues what the earlier one stored, unless the launcher has called
    since: so a restart of the server costs at most ``SILENCE_STEP_S`` of a silence, and no clock of
    the day is compared with another one.
    """

    def __init__(self, files: AttemptFiles, monotonic: Callable[[], float]) -> None:
        self._files = files
        self._monotonic = monotonic
        self._looked_s = monotonic()
        self._served_s = 0.0
        self._known: dict[_Key, _Silence] = {}
        self._mutex = threading.RLock()

    def read_clock(self) -> float:
        """Returns the seconds for which this server was there to be called."""
        with self._mutex:  # no time counts twice
            now_s = self._monotonic()
            self._served_s += min(max(0.0, now_s - self._looked_s), MAX_CLOCK_GAP_S)
            self._looked_s = now_s
            return self._served_s

    def measure(self, attempt_id: AttemptId, replica: Replica) -> float:
        """Returns for how many seconds the replica's launcher hasn't called."""
        with self._mutex:
            return self._measure(attempt_id, replica)

    def _measure(self, attempt_id: AttemptId, replica: Replica) -> float:
        served_s, key = self.read_clock(), (attempt_id, replica.name, replica.allocation)
        known = self._known.get(key)
        if known is None:
            before_s = self._read(attempt_id, replica)
            known = self._known[key] = _Silence(replica.contact, served_s - before_s, before_s)
        elif known.contact != replica.contact:
            known = self._known[key] = _Silence(replica.contact, served_s)
        silent_s = served_s - known.since_s
        if silent_s >= known.stored_s + SILENCE_STEP_S:
            known.stored_s = silent_s
            self._store(attempt_id, replica, silent_s)
        return silent_s

    def end(self, attempt_id: AttemptId, replica: Replica) -> None:
        """Ends a silence as a call does."""
        with self._mutex:
            key = (attempt_id, replica.name, replica.allocation)
            known = self._known.get(key)
            if self._read(attempt_id, replica) if known is None else known.stored_s:
                self._store(attempt_id, replica, 0.0)
            self._known[key] = _Silence(replica.contact, self.read_clock())

    def _store(self, attempt_id: AttemptId, replica: Replica, silent_s: float) -> None:
        with suppress(OSError):  # the next server then continues what was stored before
            content = {"contact": replica.contact, "silent_s": silent_s}
            self._files.keep_note(attempt_id, replica, _SILENCE_KIND, content)

    def _read(self, attempt_id: AttemptId, replica: Replica) -> float:
        """Returns the stored silence; 0 if the launcher has called since."""
        stored = self._files.read_note(attempt_id, replica, _SILENCE_KIND)
        if stored is None or stored.get("contact") != replica.contact:
            return 0.0
        return float(stored["silent_s"])

    def keep_only(self, known: Iterable[AttemptId]) -> None:
        """Forgets the launchers of all other attempts."""
        kept = frozenset(known)
        with self._mutex:
            self._known = {key: each for key, each in self._known.items() if key[0] in kept}


log = logging.getLogger(__name__)

SUSPECT_S = 25.0
"""A launcher calls every 20 s: one that is silent for longer may have lost its node."""
FENCE_S = 45.0
"""How long a launcher is silent before its node is fenced, where the region doesn't say it."""
RECORD_S = 20.0
"""The age of a claim at which the node's state is recorded: most jobs have ended by then."""
MAX_RECORD_S = 640.0
"""The longest time between two attempts at that."""
SKEW_S = 60.0
"""By how much two clocks of a cluster may differ."""
JITTER_S = 15.0
"""By how much an engine's time of one boot may differ from itself."""
MAX_ASKED = 50
"""How many nodes the engine is asked for at once."""
_NODE_KIND = "node"


@dataclass(frozen=True)
class LostNodeLimits:
    """The limits of a region.

    ``lease_end_s``: a launcher that is silent for so long has ended its replica. ``lost_s``: a node
    whose launcher is silent for so long is lost (0: not set). ``fence`` is the administrator's
    command (empty: none). ``voids_keys``: a replica reaches files only by its key, which its next
    start voids, so a node that is lost needs no proof.
    """

    lease_end_s: float
    lost_s: float = 0.0
    fence: tuple[str, ...] = ()
    voids_keys: bool = False

    @property
    def wait_s(self) -> float:
        """The silence after which a replica counts as gone without a proof."""
        if self.voids_keys:
            return self.lost_s or self.lease_end_s
        return max(self.lost_s, self.lease_end_s)

    @property
    def suspect_s(self) -> float:
        """The silence after which the engine is asked for the node."""
        return min(SUSPECT_S, self.lease_end_s / 4)


class LostNodes:
    """Finds proofs that the nodes of silent launchers are dead, and else waits for their lease.

    While a replica runs, the state of its node is recorded once. It is a record of the boot that
    the launcher runs in only if the launcher said the same of it. A node that merely doesn't
    answer, and one of which nothing was recorded, proves nothing.
    """

    def __init__(
        self,
        engine: Engine,
        files: AttemptFiles,
        limits: LostNodeLimits,
        monotonic: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._files = files
        self._limits = limits
        self._silences = Silences(files, monotonic)
        self._fence = FenceCommand(limits.fence, monotonic) if limits.fence else None
        self._records: dict[_Key, NodeState] = {}
        self._record_at_s: dict[_Key, tuple[float, float]] = {}
        """When a node's state is asked for next, and how long after that again."""
        self._wanted: dict[str, None] = {}
        """The nodes to ask for, those first that were asked for longest ago."""
        self._states: dict[str, NodeState] = {}
        self._asked_s = 0.0

    def ask(self) -> None:
        """Reads from the engine the states of the nodes that matter now."""
        self._asked_s = self._silences.read_clock()
        if self._fence is not None:
            self._fence.collect()
        asked, self._states = tuple(self._wanted)[:MAX_ASKED], {}
        for name in asked:
            del self._wanted[name]
        if not asked:
            return
        try:
            self._states = {state.name: state for state in self._engine.node_states(asked)}
        except EngineUnavailable as error:
            log.warning("%s doesn't say how nodes are: %s", self._engine.title, error)
        except Exception:  # an odd record of a node must not hold up the jobs of others
            log.exception("%s's answer on nodes can't be read", self._engine.title)

    def measure_silence(self, attempt_id: AttemptId, replica: Replica) -> float:
        return self._silences.measure(attempt_id, replica)

    def excuse(self, attempt_id: AttemptId, replica: Replica) -> None:
        """Counts a launcher that can't call as if it had just called."""
        self._silences.end(attempt_id, replica)

    def is_calling(self, attempt_id: AttemptId, replica: Replica) -> bool:
        """Returns whether ``find_death`` has nothing to find out, as the launcher called lately."""
        silent_s = self._silences.measure(attempt_id, replica)
        if silent_s >= min(self._limits.suspect_s, self._limits.wait_s):
            return False
        self._record(attempt_id, replica, str((replica.claim or {}).get("node", "")))
        return True

    def find_death(self, attempt_id: AttemptId, replica: Replica) -> str | None:
        """Returns why nothing of the replica can run on its node; None if something may.

        The replica must have a launcher. What the engine is to be asked for this is known after
        the next ``ask``.
        """
        claim = replica.claim or {}
        node, limits = str(claim.get("node", "")), self._limits
        silent_s = self._silences.measure(attempt_id, replica)
        if silent_s > limits.wait_s:
            return f"the replica's node {node} did not answer for {limits.wait_s:.0f} s"
        if silent_s < limits.suspect_s:
            self._record(attempt_id, replica, node)
            return None
        self._wanted[node] = None
        state, record = self._find_state(node, silent_s), self._find_record(attempt_id, replica)
        if state and record and (proof := find_proof(record, state, replica.contact)):
            return proof
        if self._fence is None:
            return None
        if self._fence.fenced_after(node, silent_s):
            return f"the region's fence command has fenced the replica's node {node}"
        # The engine must say the same: the launcher alone may be cut off from this server.
        if state and state.silent and silent_s >= (limits.lost_s or FENCE_S):
            self._fence.start(node)
        return None

    def _find_state(self, node: str, silent_s: float) -> NodeState | None:
        """Returns the node's state, if it was read after its launcher's last call."""
        was_read_s = self._silences.read_clock() - self._asked_s
        return self._states.get(node) if was_read_s < silent_s else None

    def _record(self, attempt_id: AttemptId, replica: Replica, node: str) -> None:
        """Records the state of the node of a launcher that calls, a while after its first call."""
        key, now_s = (attempt_id, replica.name, replica.allocation), self._silences.read_clock()
        if key in self._records:
            return
        at_s, then_s = self._record_at_s.setdefault(key, (now_s + RECORD_S, RECORD_S))
        if now_s >= at_s and self._find_record(attempt_id, replica) is None:
            self._wanted[node] = None
            # An engine may not know what tells boots apart, or may not say it to this server.
            self._record_at_s[key] = now_s + then_s, min(2 * then_s, MAX_RECORD_S)
        state = self._states.get(node)
        if state is not None and _is_of_boot(state, (replica.claim or {}).get("boot")):
            self._files.keep_note(attempt_id, replica, _NODE_KIND, asdict(state))
            self._records[key] = state

    def _find_record(self, attempt_id: AttemptId, replica: Replica) -> NodeState | None:
        key = (attempt_id, replica.name, replica.allocation)
        if key not in self._records:
            stored = self._files.read_note(attempt_id, replica, _NODE_KIND)
            if stored is None:
                return None
            self._records[key] = NodeState(**stored)
        return self._records[key]

    def keep_only(self, known: Iterable[AttemptId]) -> None:
        """Forgets the nodes of all other attempts."""
        kept = frozenset(known)
        self._silences.keep_only(kept)
        self._records = {key: each for key, each in self._records.items() if key[0] in kept}
        self._record_at_s = {k: each for k, each in self._record_at_s.items() if k[0] in kept}

    def close(self) -> None:
        if self._fence is not None:
            self._fence.close()


def find_proof(before: NodeState, now: NodeState, contact_s: float) -> str | None:
    """Returns why nothing runs any more of what ran on a node; None if it may.

    ``before`` was recorded while it ran; its launcher called last at ``contact_s`` (Unix time).
    """
    if now.off:
        return f"the replica's node {now.name} {now.off}"
    reason = f"the replica's node {now.name} was started again"
    if before.boot_id and now.boot_id and before.boot_id != now.boot_id:
        return reason
    # A time of boot moves with the clock by which it is computed. So it must also be after the
    # launcher's last call, and the engine's daemon must have been started again.
    is_later = now.booted_s > max(before.booted_s + JITTER_S, contact_s)
    if before.booted_s and is_later and now.daemon_started_s not in (0, before.daemon_started_s):
        return reason
    return None


def _is_of_boot(state: NodeState, boot: Content | None) -> bool:
    """Returns whether the engine and the launcher say the same of the boot that it runs in."""
    if boot is None or state.off:
        return False
    if state.boot_id:
        return state.boot_id == str(boot["id"])
    return state.booted_s > 0 and abs(state.booted_s - float(boot["booted_s"])) <= SKEW_S
