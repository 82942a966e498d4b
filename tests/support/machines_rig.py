"""A backend over an engine whose nodes are machines, which can die and be cut off."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.engine_rig import EngineRig

if TYPE_CHECKING:
    from footplate.domain.names import AttemptId
    from tests.support.machines import Machines


class MachinesRig(EngineRig):
    """The replicas of a gang are on different machines."""

    machines: Machines

    def pid(self, attempt_id: str, replica: str) -> int:
        """As this machine sees it: in the file stands how its own machine does."""
        super().pid(attempt_id, replica)
        [pid] = self.supervisor_pids(attempt_id, replica)
        return pid

    def supervisor_pids(self, attempt_id: str, replica: str) -> tuple[int, ...]:
        """The live supervisors of all starts of a replica, on all machines."""
        found = []
        homes = os.fsencode(f"{self.scratch}/launchers/{attempt_id}.{replica}.")
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"run" in words and any(word.startswith(homes) for word in words):
                    found.append(int(entry.name))
        return tuple(found)

    def machine_of(self, attempt_id: AttemptId, replica: str) -> str:
        """The machine that the newest start of a replica is or was on."""
        seen = self.backend.inspect(attempt_id)
        return next(each.node for each in seen if each.replica == replica)

    def wait_until_avoided(self, name: str) -> None:
        """Until the engine starts nothing more on a machine that is away."""
        raise NotImplementedError

    def start_machine(self, name: str) -> None:
        """One that was killed; returns when the engine uses it."""
        raise NotImplementedError

    def heal_machine(self, name: str) -> None:
        """One that was cut off; returns when the engine uses it."""
        raise NotImplementedError
