"""What every backend over an engine does: subclass this and give it ``rig``.

The rig's lease is longer than the tests wait: nothing here is known by silence.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from footplate.ports.backend import Presence
from tests.support.backend_contract import BackendContract
from tests.support.backend_rig import WORKERS, all_are, make_request, make_restart, see

if TYPE_CHECKING:
    from tests.support.engine_rig import EngineRig

CHIEF, WORKER = WORKERS[:2]


class EngineContract(BackendContract):
    @pytest.mark.parametrize("who", ["launcher", "parent"])
    def test_a_launcher_that_is_killed_ends_its_replica_and_no_other(
        self, rig: EngineRig, who: str
    ) -> None:
        """It can start again then, and the rest of the gang goes on."""
        request = make_request("u-1", (CHIEF, WORKER))
        self.start_live(rig, request)
        chief, worker = (rig.pid(request.attempt_id, name) for name in (CHIEF, WORKER))
        launcher, parent = rig.launcher_with_parent(request.attempt_id, WORKER)
        os.kill(launcher if who == "launcher" else parent, signal.SIGKILL)

        def is_gone() -> bool:
            first, second = (each.presence for each in see(rig.backend, request))
            assert first is Presence.LIVE
            return second is Presence.GONE

        rig.settle(is_gone)
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
        rig.backend.start(make_restart(request, WORKER))
        rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
        assert rig.pid(request.attempt_id, CHIEF) == chief
